import { DamagedLog, type DamagedPlace, Outage, StillSearching, UndecodableEvent } from '../../log/event-log.ts'

/** As data that can be sent to another thread. */
export type ThrownFault =
  | { readonly of: 'searching'; readonly lookedTo: number | null }
  | { readonly of: 'damage'; readonly place: DamagedPlace; readonly why: string }
  | {
      readonly of: 'outage'
      readonly message: string
      readonly outcome: Outage['outcome']
      readonly reason: Outage['reason']
    }
  | {
      readonly of: 'event'
      readonly stream: string
      readonly revision: number
      readonly type: string
      readonly why: string
    }

/** `null`: the error is a bug. */
export const faultData = (error: unknown): ThrownFault | null => {
  if (error instanceof StillSearching) return { of: 'searching', lookedTo: error.lookedTo }
  if (error instanceof DamagedLog) return { of: 'damage', place: error.place, why: error.why }
  if (error instanceof Outage) {
    const { message, outcome, reason } = error
    return { of: 'outage', message, outcome, reason }
  }
  if (error instanceof UndecodableEvent) {
    const { stream, revision, type, why } = error
    return { of: 'event', stream, revision, type, why }
  }
  return null
}

export const faultFrom = (data: ThrownFault): Error => {
  switch (data.of) {
    case 'searching':
      return new StillSearching(data.lookedTo)
    case 'damage':
      return new DamagedLog(data.place, data.why)
    case 'outage':
      return new Outage(data.message, data.outcome, data.reason)
    case 'event':
      return new UndecodableEvent(data.stream, data.revision, data.type, data.why)
  }
}
