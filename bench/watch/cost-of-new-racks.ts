import { median, table } from '../figures.ts'
import { batchesToFill, newRacksBody, postNewRacks, type RackNames, rackNames } from '../load/new-racks.ts'
import { createKey, type EmptyService, type ServiceOptions, startEmptyService } from '../servers.ts'
import { busyNanosecondsOf } from './process-figures.ts'

/** The service still works after its answer, and this work counts. */
const settleMs = 50
const ratioMax = 2

type Poster = { readonly names: RackNames; readonly cellar: string; readonly key: string; readonly tookMs: number[] }

/**
 * Measures the event loop's processor time for a batch of 1,000 racks that a full cellar does not know. Maps by name are
 * then full, and slowest if all names have one hash.
 */
export const benchNewRacks = async (rounds: number, options: ServiceOptions): Promise<void> => {
  const service = await startEmptyService(options)
  try {
    const posters: Poster[] = []
    for (const [index, names] of rackNames.entries()) {
      const cellar = `racks-${index}`
      await service.ask({ op: 'create_cellar', cellar, title: '' })
      posters.push({ names, cellar, key: await createKey(service, cellar), tookMs: [] })
    }
    for (let batch = 0; batch < batchesToFill + rounds; batch += 1) {
      for (const poster of posters) {
        const ms = await loopMsOf(service, poster, batch)
        if (batch >= batchesToFill) poster.tookMs.push(ms)
      }
    }
    report(posters)
  } finally {
    await service.stop()
  }
}

const loopMsOf = async (service: EmptyService, { names, cellar, key }: Poster, batch: number): Promise<number> => {
  const body = newRacksBody(cellar, names, batch)
  const before = loopNanosecondsOf(service)
  await postNewRacks(service.url, key, body)
  await Bun.sleep(settleMs)
  return (loopNanosecondsOf(service) - before) / 1e6
}

const loopNanosecondsOf = ({ processId }: EmptyService): number =>
  busyNanosecondsOf(processId).get(String(processId)) ?? 0

const report = (posters: readonly Poster[]): void => {
  const rows = posters.map(({ names, tookMs }) => {
    const ms = median(tookMs)
    const ratio = ms / median(posters[0]?.tookMs ?? [])
    return [names.what, ms.toFixed(1), Math.max(...tookMs).toFixed(1), ratio.toFixed(2)]
  })
  console.log('\nThe event loop’s processor time for a batch of 1,000 new racks in a full cellar\n')
  console.log(table([['racks', 'ms: median', 'max', '÷ plain'], ...rows]))
  console.log(`\nTarget: at most ${ratioMax} times the time of plain racks.`)
}
