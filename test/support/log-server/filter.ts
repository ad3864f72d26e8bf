import type { ReadReq } from '@eventstore/db-client/generated/streams_pb'
import type { StoredEvent } from './state.ts'

/**
 * Returns whether a filter wants an event. A filter tests the stream's name or the event's type, by prefix or regular
 * expression.
 */
export const wantedBy = (filter: ReadReq.Options.FilterOptions | undefined): ((event: StoredEvent) => boolean) => {
  if (filter === undefined) return () => true
  const onStream = filter.getStreamIdentifier()
  const expression = onStream ?? filter.getEventType()
  const regex = expression?.getRegex() ?? ''
  const prefixes = expression?.getPrefixList() ?? []
  const matches =
    regex === ''
      ? (text: string) => prefixes.some((prefix) => text.startsWith(prefix))
      : (text: string) => new RegExp(regex).test(text)
  return ({ stream, type }) => matches(onStream === undefined ? type : stream)
}
