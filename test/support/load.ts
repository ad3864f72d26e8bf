/** Devices that post as fast as they are answered, and write down what they were told: the only honest record of it. */
export type Acknowledged = { readonly value: number; readonly receipt: string }

export type Load = {
  readonly acknowledged: readonly Acknowledged[]
  /** Status of every answer that was no 200. */
  readonly refused: readonly number[]
  /** Values whose post got no answer, with the reason. */
  readonly unanswered: readonly { readonly value: number; readonly code: string }[]
  /** Resolves once so many readings have been acknowledged in all. */
  untilAcknowledged(count: number): Promise<void>
  /** Resolves when every device has given up: each stops at its first post that finds nobody. */
  readonly ended: Promise<void>
}

export type LoadOptions = {
  readonly url: string
  readonly key: string
  readonly cellar: string
  readonly devices: number
  /** The next value: each reading has one of its own, by which it is found in the log. */
  nextValue(): number
}

export const startLoad = ({ url, key, cellar, devices, nextValue }: LoadOptions): Load => {
  const acknowledged: Acknowledged[] = []
  const refused: number[] = []
  const unanswered: { value: number; code: string }[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []

  const device = async (rack: string): Promise<void> => {
    while (true) {
      const value = nextValue()
      const reading = { cellar, rack, keg: 'load', value, timestamp: '2026-03-01T12:00:00Z' }
      try {
        const response = await fetch(`${url}/api/v1/ingest`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
          body: JSON.stringify(reading),
        })
        await response.text()
        if (response.ok) acknowledged.push({ value, receipt: response.headers.get('X-Receipt') ?? '' })
        else refused.push(response.status)
      } catch (error) {
        unanswered.push({ value, code: codeOf(error) })
        return
      }
      for (const { count, resolve } of waiting) if (acknowledged.length >= count) resolve()
    }
  }

  const all = Array.from({ length: devices }, (_, index) => device(`rack-${index}`))
  return {
    acknowledged,
    refused,
    unanswered,
    untilAcknowledged: (count) => new Promise((resolve) => waiting.push({ count, resolve })),
    ended: Promise.all(all).then(() => {}),
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error)
