import { expect, test } from 'bun:test'
import { heldRetryMs, heldWaitMsMax } from '../src/limits.ts'
import { DataFolderHeld } from '../src/log/data-folder.ts'
import { Outage } from '../src/log/event-log.ts'
import { LogFileBusy } from '../src/log/sqlite/sqlite-file.ts'
import { openWhenFree } from '../src/open-log.ts'

const held = new DataFolderHeld('held')

const opening = (faults: readonly Error[], isServed = false) => {
  const seen = { tries: 0, waitedMs: 0, told: [] as string[] }
  const open = async () => {
    const fault = faults[Math.min(seen.tries, faults.length - 1)]
    seen.tries += 1
    if (fault !== undefined && seen.tries <= faults.length) throw fault
    return 'opened'
  }
  const parts = {
    isServed: async () => isServed,
    onWait: (why: string) => seen.told.push(why),
    wait: async (ms: number) => {
      seen.waitedMs += ms
    },
  }
  return { seen, opened: openWhenFree(open, parts) }
}

test('openWhenFree() waits while a command or another program uses the log, and tells it once', async () => {
  const busy = new LogFileBusy('busy', 'not_written', 'unavailable')
  const { seen, opened } = opening([held, busy, held])
  expect(await opened).toBe('opened')
  expect(seen).toEqual({ tries: 4, waitedMs: 3 * heldRetryMs, told: ['held'] })
})

test('openWhenFree() waits for heldWaitMsMax at most', async () => {
  const tries = heldWaitMsMax / heldRetryMs + 1
  expect(await opening(Array.from({ length: tries - 1 }, () => held)).opened).toBe('opened')
  const { seen, opened } = opening(Array.from({ length: tries }, () => held))
  await expect(opened).rejects.toBe(held)
  expect(seen.waitedMs).toBe(heldWaitMsMax)
})

test('openWhenFree() does not wait for a service that answers, or after another fault', async () => {
  const outage = new Outage('disk', 'not_written', 'unavailable')
  for (const [fault, isServed] of [
    [held, true],
    [outage, false],
  ] as const) {
    const { seen, opened } = opening([fault], isServed)
    await expect(opened).rejects.toBe(fault)
    expect(seen).toEqual({ tries: 1, waitedMs: 0, told: [] })
  }
})
