/** Devices post as fast as they get answers, and record each answer. */
export type Acknowledged = { readonly value: number; readonly receipt: string }

export type Refused = {
  readonly value: number
  readonly status: number
  readonly code: string
  readonly retryAfter: string | null
}

export type Load = {
  readonly acknowledged: readonly Acknowledged[]
  /** All answers with a status other than 2xx. */
  readonly refused: readonly Refused[]
  readonly unanswered: readonly { readonly value: number; readonly code: string }[]
  untilAcknowledged(count: number): Promise<void>
  untilRefused(count: number): Promise<void>
  /** Stops all devices. Resolves after the last answer. */
  stop(): Promise<void>
  /** Resolves when all devices have ended. A device also ends when it cannot reach the service. */
  readonly ended: Promise<void>
}

export type LoadOptions = {
  readonly url: string
  readonly key: string
  readonly cellar: string
  readonly devices: number
  /** Returns a new value for each reading, by which a test finds the reading in the log. */
  nextValue(): number
  /** Default: 0. */
  readonly pauseAfterRefusalMs?: number
}

export const startLoad = (options: LoadOptions): Load => {
  const { url, key, cellar, devices, nextValue, pauseAfterRefusalMs = 0 } = options
  const acknowledged: Acknowledged[] = []
  const refused: Refused[] = []
  const unanswered: { value: number; code: string }[] = []
  const waiting: { readonly isOver: () => boolean; readonly resolve: () => void }[] = []
  let isStopping = false

  const device = async (rack: string): Promise<void> => {
    while (!isStopping) {
      const value = nextValue()
      const reading = { cellar, rack, keg: 'load', value, timestamp: '2026-03-01T12:00:00Z' }
      try {
        const response = await fetch(`${url}/api/v1/ingest`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
          body: JSON.stringify(reading),
        })
        const answer = await response.text()
        if (response.ok) acknowledged.push({ value, receipt: response.headers.get('X-Receipt') ?? '' })
        else refused.push({ value, ...refusalIn(response, answer) })
        if (!response.ok && pauseAfterRefusalMs > 0) await Bun.sleep(pauseAfterRefusalMs)
      } catch (error) {
        unanswered.push({ value, code: codeOf(error) })
        return
      }
      for (const { isOver, resolve } of waiting) if (isOver()) resolve()
    }
  }

  const all = Array.from({ length: devices }, (_, index) => device(`rack-${index}`))
  const ended = Promise.all(all).then(() => {})
  const until = (isOver: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      if (isOver()) resolve()
      else waiting.push({ isOver, resolve })
    })
  return {
    acknowledged,
    refused,
    unanswered,
    untilAcknowledged: (count) => until(() => acknowledged.length >= count),
    untilRefused: (count) => until(() => refused.length >= count),
    stop: () => {
      isStopping = true
      return ended
    },
    ended,
  }
}

const refusalIn = ({ status, headers }: Response, text: string): Omit<Refused, 'value'> => {
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? ''
  return { status, code, retryAfter: headers.get('Retry-After') }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error)
