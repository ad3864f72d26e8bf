/**
 * A packed live stream is one gzip file. Each message is packed alone, into deflate blocks that end at a whole byte and refer
 * to nothing before them. So a message is packed once for all streams, and a browser can unpack it as soon as it comes.
 */

import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib'

export type Message = {
  readonly plain: Uint8Array
  /** `null` if it was made for streams that are not packed. */
  readonly packed: Uint8Array | null
}

const wholeBlocks = { finishFlush: constants.Z_FULL_FLUSH }
const deflateOnThread = promisify(deflateRaw)

export const packed = async (plain: Uint8Array): Promise<Message> => ({
  plain,
  packed: await deflateOnThread(plain, wholeBlocks),
})

/** Only for short messages, because this runs on the event loop. */
export const shortMessage = (plain: Uint8Array) => ({ plain, packed: deflateRawSync(plain, wholeBlocks) })

/** Deflate, without a name and a time (RFC 1952). */
export const gzipHead = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

/** Without its end, a client takes a gzip file for one that was cut off. */
export class GzipEnd {
  #crc = 0
  #bytes = 0

  note(plain: Uint8Array): void {
    this.#crc = crc32(plain, this.#crc)
    this.#bytes += plain.length
  }

  bytes(): Uint8Array {
    const end = new DataView(new ArrayBuffer(10))
    end.setUint16(0, 0x0300) // an empty last block
    end.setUint32(2, this.#crc, true)
    end.setUint32(6, this.#bytes % 2 ** 32, true)
    return new Uint8Array(end.buffer)
  }
}
