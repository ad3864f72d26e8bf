import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { createLogLines, logLinesBytesMax } from '../../src/log-lines.ts'
import { gather, newFolder, root } from '../support/cellarbook.ts'

const folder = newFolder()
afterAll(() => folder.remove())

const floodLines = 16_384

/** A program, because Bun's real stdout does not count what waits to be read, and a stream of a test does. */
const flood = `
  import { createLogLines } from ${JSON.stringify(join(root, 'src/log-lines.ts'))}
  const lines = createLogLines(process.stdout, 'info')
  for (let sent = 0; sent < ${floodLines}; sent += 1) lines.info('x'.repeat(1024))
  process.stderr.write('flooded')
  await Bun.stdin.text()
`

const readyReader = () => {
  const taken: string[] = []
  const stream = new Writable({
    write: (piece, _, next) => {
      taken.push(String(piece))
      next()
    },
  })
  return { stream, taken }
}

describe('createLogLines()', () => {
  test('writes one JSON object a line, with level, time and what happened', () => {
    const { stream, taken } = readyReader()
    createLogLines(stream, 'info').info('listening', { port: 3000 })
    expect(taken).toHaveLength(1)
    expect(taken[0]).toEndWith('}\n')
    expect(JSON.parse(taken[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      pid: process.pid,
      port: 3000,
      msg: 'listening',
    })
  })

  test('writes an error with its stack, and nothing below its level', () => {
    const { stream, taken } = readyReader()
    const lines = createLogLines(stream, 'warn')
    lines.debug('no')
    lines.info('no')
    lines.error('bug', { error: new Error('broken') })
    expect(taken).toHaveLength(1)
    expect(JSON.parse(taken[0] ?? '')).toMatchObject({ level: 'error', error: { message: 'broken' } })
  })

  test('keeps some lines while nobody reads, drops the rest, and says how many', async () => {
    const fifo = join(folder.path, 'read-now')
    expect(Bun.spawnSync(['mkfifo', fifo]).exitCode).toBe(0)
    // The second program of the pipe reads nothing before the test has closed the fifo.
    const pipe = Bun.spawn(['sh', '-c', '"$0" -e "$1" | { cat "$2"; cat; }', process.execPath, flood, fifo], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await gather(pipe.stderr).until(/flooded/)).not.toBeNull()
    writeFileSync(fifo, '')
    const stdout = gather(pipe.stdout)
    const told = await stdout.until(/"lines":(\d+),"msg":"log lines were dropped/)
    pipe.stdin.end()
    await stdout.ended
    const kept = stdout.text().match(/"msg":"x+"/g)?.length ?? 0
    expect(kept + Number(told?.[1])).toBe(floodLines)
    expect(stdout.text().length).toBeGreaterThan(logLinesBytesMax)
    expect(stdout.text().length).toBeLessThan(logLinesBytesMax + 2 ** 17)
  })

  test('continues silently when its reader is gone', async () => {
    const { stream, taken } = readyReader()
    const lines = createLogLines(stream, 'info')
    const closed = new Promise((resolve) => stream.once('close', resolve))
    stream.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    await closed
    lines.info('nobody reads this')
    expect(taken).toEqual([])
  })
})
