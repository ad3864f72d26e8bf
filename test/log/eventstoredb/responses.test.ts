import { describe, expect, test } from 'bun:test'
import { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb'
import { ReadResp } from '@eventstore/db-client/generated/streams_pb'
import { decodeResponse } from '../../../src/log/eventstoredb/responses.ts'
import { hostileTexts } from '../../support/logs/sample-events.ts'

const id = '0f0e0d0c-0b0a-4908-8706-f50403020100'
const plain = {
  streamName: 'key-é🍷',
  type: 'KeyCreated',
  revision: 7,
  position: 4_711,
  metadata: '{"a":1}',
  data: '{}',
}

/** Encodes an answer with EventStoreDB's own library, so that our decoder is tested against it. */
const answer = (given: Partial<typeof plain> & { readonly id?: UUID }): Buffer => {
  const { streamName, type, revision, position, metadata, data } = { ...plain, ...given }
  const event = new ReadResp.ReadEvent.RecordedEvent()
    .setId(given.id ?? new UUID().setString(id))
    .setStreamIdentifier(new StreamIdentifier().setStreamName(Buffer.from(streamName)))
    .setStreamRevision(String(revision))
    .setPreparePosition(String(position))
    .setCommitPosition(String(position))
    .setCustomMetadata(Buffer.from(metadata))
    .setData(Buffer.from(data))
  event.getMetadataMap().set('created', '123').set('type', type).set('content-type', 'application/json')
  const response = new ReadResp().setEvent(new ReadResp.ReadEvent().setEvent(event).setCommitPosition(String(position)))
  return Buffer.from(response.serializeBinary())
}

describe('an answer to a read', () => {
  test('is decoded with position, id, type and texts', () => {
    expect(decodeResponse(answer({}))).toEqual({ kind: 'event', event: { id, ...plain } })
  })

  test.each([0, 127, 128, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER])('is exact at the position %p', (place) => {
    const response = decodeResponse(answer({ revision: place, position: place }))
    expect(response).toMatchObject({ event: { revision: place, position: place } })
  })

  test('is refused when the id of its event is not a text', () => {
    const halves = new UUID.Structured().setMostSignificantBits('1').setLeastSignificantBits('2')
    expect(() => decodeResponse(answer({ id: new UUID().setStructured(halves) }))).toThrow('not a text')
  })

  test.each(hostileTexts.filter((text) => text.isWellFormed()).map((text) => [text]))(
    'keeps %j as it is, in names and data',
    (text) => {
      const data = JSON.stringify(text.repeat(200))
      expect(decodeResponse(answer({ streamName: text, data }))).toMatchObject({ event: { streamName: text, data } })
    },
  )

  test('with the progress of the server holds no event', () => {
    const caughtUp = new ReadResp().setCaughtUp(new ReadResp.CaughtUp())
    expect(decodeResponse(Buffer.from(caughtUp.serializeBinary()))).toEqual({ kind: 'caught_up' })
    const checkpoint = new ReadResp().setCheckpoint(new ReadResp.Checkpoint().setCommitPosition('9'))
    expect(decodeResponse(Buffer.from(checkpoint.serializeBinary()))).toEqual({ kind: 'checkpoint', position: 9 })
    const confirmed = new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId('x'))
    expect(decodeResponse(Buffer.from(confirmed.serializeBinary()))).toEqual({ kind: 'other' })
    expect(decodeResponse(Buffer.alloc(0))).toEqual({ kind: 'other' })
  })

  test('is refused when it is cut anywhere', () => {
    const whole = answer({})
    const data = whole.length - 2
    for (let length = 3; length < data; length += 1) {
      expect(() => decodeResponse(whole.subarray(0, length))).toThrow('past the end')
    }
  })
})
