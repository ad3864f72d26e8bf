import type { CheckpointStore } from '../../../src/actors/saved-state/checkpoints.ts'

export class MemoryCheckpoints implements CheckpointStore {
  pieces: readonly Uint8Array[] | null = null
  writes = 0
  fault: Error | null = null

  read(): Generator<Uint8Array> | null {
    return this.pieces === null ? null : this.#each(this.pieces)
  }

  async write(pieces: Iterable<Uint8Array>): Promise<void> {
    const written: Uint8Array[] = []
    for (const piece of pieces) {
      written.push(piece.slice())
      await Promise.resolve()
      if (this.fault !== null) throw this.fault
    }
    this.pieces = written
    this.writes += 1
  }

  async discard(): Promise<void> {
    this.pieces = null
  }

  *#each(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
    yield* pieces
  }
}
