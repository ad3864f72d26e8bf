import type { ReadReq } from '@eventstore/db-client/generated/streams_pb'
import type { StoredEvent } from './state.ts'

/** By prefix or pattern of the stream or the type. */
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
