/**
 * Prints the figures of docs/measurements.md. `bun run bench NAME` prints only one part. The figures depend on the
 * machine, so nothing is asserted.
 */
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { benchAsk } from './ask/ask.ts'
import { benchDisk, benchRefusedOnDisk } from './disk.ts'
import { benchEventStore } from './eventstoredb.ts'
import { benchEventStoreStart } from './eventstoredb-start.ts'
import { benchFold } from './fold.ts'
import { benchGrowth } from './growth.ts'
import { benchLag } from './lag.ts'
import { benchMemory } from './memory.ts'
import { benchPeers } from './peers/peers.ts'
import { drawPicture } from './picture.ts'
import { benchProcessorCost } from './processor-cost.ts'
import { benchReplay } from './replay.ts'
import { benchSignInFlood } from './sign-in-flood.ts'
import { benchSingleReadings } from './single-readings.ts'
import { benchStart } from './start.ts'
import { benchWorstCase } from './worst-case.ts'

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    readings: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    url: { type: 'string' },
    what: { type: 'string' },
    refused: { type: 'string', default: '0' },
    scale: { type: 'string', default: '1' },
    kegs: { type: 'string', default: '0' },
    folder: { type: 'string' },
    with: { type: 'string' },
  },
  allowPositionals: true,
})

const processors = cpus()
const machine = `Bun ${Bun.version}, ${processors.length} × ${processors[0]?.model ?? '?'}`
const roundsOr = (rounds: number, seconds: number) => ({
  rounds: Number(values.rounds ?? rounds),
  seconds: Number(values.seconds ?? seconds),
})
const rounds = roundsOr(7, 4)
/** `--with` names a folder with another version of the project, for comparisons. */
const checkout = values.with === undefined ? null : resolve(values.with)

const parts = new Map<string, () => Promise<void>>([
  ['single', () => benchSingleReadings(rounds)],
  ['peers', () => benchPeers(rounds, machine)],
  ['picture', drawPicture],
  ['disk', () => benchDisk(Number(values.readings ?? 1_000_000))],
  ['disk-refused', () => benchRefusedOnDisk(Number(values.readings ?? 10_000))],
  ['replay', () => benchReplay(Number(values.readings ?? 1_000_000), rounds.rounds)],
  ['start', () => benchStart(Number(values.readings ?? 10_000_000), rounds.rounds)],
  ['memory', () => benchMemory(Number(values.readings ?? 10_000_000), Number(values.minutes))],
  ['lag', () => benchLag(rounds)],
  [
    'ask',
    () =>
      benchAsk({
        ...roundsOr(20, 15),
        scale: Number(values.scale),
        folder: values.folder ?? null,
        what: values.what ?? null,
      }),
  ],
  ['eventstoredb', () => benchEventStore(values.url, rounds)],
  ['eventstoredb-start', () => benchEventStoreStart(values.url, rounds.rounds)],
  ['fold', () => benchFold(Number(values.readings ?? 500_000), rounds.rounds)],
  ['growth', () => benchGrowth(Number(values.readings ?? 10_000_000))],
  [
    'worst-case',
    () => benchWorstCase({ ...roundsOr(7, 15), what: values.what ?? null }, checkout === null ? {} : { checkout }),
  ],
  ['sign-in-flood', () => benchSignInFlood(Number(values.seconds ?? 15), checkout === null ? {} : { checkout })],
  ['compare', () => compare(null)],
  ['eventstoredb-compare', () => compare(storeUrl())],
])

const compare = (storeUrl: string | null): Promise<void> => {
  const rounds = Number(values.rounds ?? 20)
  const refusedPerSecond = Number(values.refused)
  return benchProcessorCost({
    rounds,
    checkout: otherCheckout(),
    what: values.what ?? null,
    storeUrl,
    refusedPerSecond,
    scale: Number(values.scale),
    kegs: Number(values.kegs),
  })
}

const otherCheckout = (): string => {
  if (checkout !== null) return checkout
  console.error('Cannot compare: name the other checkout with --with FOLDER')
  process.exit(64)
}

const storeUrl = (): string => {
  if (values.url !== undefined) return values.url
  console.error('Cannot compare on EventStoreDB: name the server with --url esdb://…')
  process.exit(64)
}

for (const name of positionals) {
  if (parts.has(name)) continue
  console.error(`Cannot run bench "${name}": it is one of ${[...parts.keys()].join(', ')}`)
  process.exit(64)
}
console.log(`${new Date().toISOString()}, ${machine}`)
// Without a name, this runs every part. But a part that needs `--url` or `--with` is left out if that option is
// missing.
const needsMore = (name: string): boolean =>
  (name.startsWith('eventstoredb') && values.url === undefined) || (name.endsWith('compare') && checkout === null)
const isWanted = (name: string): boolean => positionals.includes(name) || (positionals.length === 0 && !needsMore(name))
for (const [name, part] of parts) if (isWanted(name)) await part()
