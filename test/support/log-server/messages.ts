import {
  AccessDenied,
  AllStreamPosition,
  MaximumAppendSizeExceeded,
  StreamIdentifier,
  Timeout,
  UUID,
  WrongExpectedVersion,
} from '@eventstore/db-client/generated/shared_pb'
import { Status } from '@eventstore/db-client/generated/status_pb'
import { type AppendReq, type BatchAppendReq, ReadResp } from '@eventstore/db-client/generated/streams_pb'
import { Any } from 'google-protobuf/google/protobuf/any_pb'
import { Empty } from 'google-protobuf/google/protobuf/empty_pb'
import type { Append, ProposedEvent, StoredEvent } from './state.ts'

export const identifierOf = (stream: string): StreamIdentifier => {
  const identifier = new StreamIdentifier()
  identifier.setStreamName(Buffer.from(stream))
  return identifier
}

export const nameOf = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString()

export const uuidOf = (id: string): UUID => {
  const message = new UUID()
  message.setString(id)
  return message
}

export const proposedEvent = (message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage): ProposedEvent => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

export const positionOf = (position: number): AllStreamPosition => {
  const message = new AllStreamPosition()
  message.setCommitPosition(String(position))
  message.setPreparePosition(String(position))
  return message
}

export const eventResponse = (event: StoredEvent): ReadResp => {
  const recorded = new ReadResp.ReadEvent.RecordedEvent()
  recorded.setId(uuidOf(event.id))
  recorded.setStreamIdentifier(identifierOf(event.stream))
  recorded.setStreamRevision(String(event.revision))
  recorded.setCommitPosition(String(event.position))
  recorded.setPreparePosition(String(event.position))
  recorded.setData(event.data)
  recorded.setCustomMetadata(event.metadata)
  recorded.getMetadataMap().set('type', event.type)
  recorded.getMetadataMap().set('content-type', event.contentType)
  recorded.getMetadataMap().set('created', '17000000000000000')

  const read = new ReadResp.ReadEvent()
  read.setEvent(recorded)
  read.setCommitPosition(String(event.position))
  const response = new ReadResp()
  response.setEvent(read)
  return response
}

export const checkpointResponse = (position: number): ReadResp => {
  const checkpoint = new ReadResp.Checkpoint()
  checkpoint.setCommitPosition(String(position))
  checkpoint.setPreparePosition(String(position))
  const response = new ReadResp()
  response.setCheckpoint(checkpoint)
  return response
}

/** These statuses refuse one append of an append stream. The stream and its other appends continue. */
export const notReady = (): Status => status('Server Is Not Ready', 'google.protobuf.Empty', new Empty())
export const accessDenied = (): Status => status('AccessDenied', 'event_store.client.AccessDenied', new AccessDenied())
export const noSpace = (): Status => status('No space left on device', 'event_store.client.Unknown', new Empty())

export const timedOut = (): Status => status('Timeout', 'event_store.client.Timeout', new Timeout())

export const appendTooLarge = (bytesMax: number): Status => {
  const details = new MaximumAppendSizeExceeded()
  details.setMaxappendsize(bytesMax)
  return status('MaximumAppendSizeExceeded', 'event_store.client.MaximumAppendSizeExceeded', details)
}

export const wrongRevision = (expected: Append['expected'], currentRevision: number | null): Status => {
  const details = new WrongExpectedVersion()
  if (currentRevision === null) details.setCurrentNoStream(new Empty())
  else details.setCurrentStreamRevision(String(currentRevision))
  if (expected === 'none') details.setExpectedNoStream(new Empty())
  else if (expected === 'exists') details.setExpectedStreamExists(new Empty())
  else if (expected === 'any') details.setExpectedAny(new Empty())
  else details.setExpectedStreamPosition(String(expected))
  return status('WrongExpectedVersion', 'event_store.client.WrongExpectedVersion', details)
}

const status = (message: string, typeName: string, details: { serializeBinary(): Uint8Array }): Status => {
  const packed = new Any()
  packed.pack(details.serializeBinary(), typeName)
  const refusal = new Status()
  refusal.setMessage(message)
  refusal.setDetails(packed)
  return refusal
}
