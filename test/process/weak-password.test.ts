import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { paths } from '../../views/paths.ts'
import { visitor } from '../http/dashboard/visitor.ts'
import { cellarbook, newFolder, startedProcesses, textOf } from '../support/cellarbook.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
const { start, killAll } = startedProcesses()
afterAll(async () => {
  await killAll()
  folder.remove()
})

test('the program has the dictionary of common passwords', async () => {
  const service = await start(folder.path)
  const made = await cellarbook(['operator', 'link', '--json'], { DATA_DIR: folder.path })
  const path = paths.link(textOf(made.lines[0], 'url').split('/').at(-1) ?? '')
  const person = visitor(service.url)
  await person.get(path)
  const spend = (password: string) => person.post(path, { email: 'ada@example.org', password })
  // This password contains no name, so only the dictionary can refuse it.
  const refused = await spend('administrator')
  expect([refused.status, refused.body.includes('This password is easy to guess')]).toEqual([422, true])
  expect((await spend('glacier tumble orbit pickle')).status).toBe(303)
  expect(await service.stop()).toBe(0)
})
