import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { root } from './support/cellarbook.ts'
import { eventsPage, streamNames } from './support/rules/events-page.ts'

const textOf = (path: string): Promise<string> => Bun.file(join(root, path)).text()

/** The formatter aligns the columns of tables. */
const unaligned = (page: string): string => page.replace(/ +/g, ' ').replace(/-+/g, '-')

test('docs/events.md says what the declarations of the events say', async () => {
  if (process.env['UPDATE_EVENTS_PAGE'] === '1') await Bun.write(join(root, 'docs/events.md'), eventsPage())
  expect(unaligned(await textOf('docs/events.md'))).toBe(unaligned(eventsPage()))
})

test('docs/protocol.md names every stream in which events are declared', async () => {
  const protocol = await textOf('docs/protocol.md')
  const { records: _, purged: __, ...named } = streamNames
  expect(
    Object.values(named)
      .flatMap((name) => name.match(/`[^`]+`/g) ?? [])
      .filter((name) => !protocol.includes(name)),
  ).toEqual([])
})
