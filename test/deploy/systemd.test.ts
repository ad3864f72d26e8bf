import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { root } from '../support/cellarbook.ts'

/** In tenths. It is 14 with systemd 252. */
const exposureMax = 20

test.skipIf(Bun.which('systemd-analyze') === null)('the unit of systemd keeps its sandbox', async () => {
  const unit = join(root, 'deploy/systemd/cellarbook.service')
  const words = ['systemd-analyze', 'security', '--offline=true', '--no-pager', `--threshold=${exposureMax}`, unit]
  const child = Bun.spawn(words, { stdout: 'pipe', stderr: 'pipe' })
  const said = await new Response(child.stdout).text()
  expect([await child.exited, said.trimEnd().split('\n').at(-1)]).toEqual([0, expect.stringContaining('OK')])
})
