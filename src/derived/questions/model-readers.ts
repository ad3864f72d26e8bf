import { Database } from 'bun:sqlite'
import type { ModelKind } from '../model.ts'
import { inodeOf, isOfLog, modelPath, readHead } from '../model-file.ts'
import type { AsOf } from './question.ts'

/** The thread for questions waits this long for a file that another program has locked. */
const questionBusyMsMax = 100
/** Pages of each model that the thread for questions keeps in memory, in KiB. */
export const questionCacheKib = 1_024

/** The model has no file yet, or a file of another format or log, which the follower replaces. */
export class ModelNotReady extends Error {
  override readonly name = 'ModelNotReady'
}

export type ModelFolder = { readonly dataDir: string; readonly logId: string }

type Reader = { readonly inode: number; readonly database: Database }

/** Read-only. Each is opened when the first question needs it. */
export class ModelReaders {
  readonly #folder: ModelFolder
  readonly #readers = new Map<string, Reader>()

  constructor(folder: ModelFolder) {
    this.#folder = folder
  }

  /** @throws ModelNotReady, ModelUnusable, SQLiteError */
  open(model: Pick<ModelKind, 'name' | 'format'>): { readonly database: Database; readonly asOf: AsOf } {
    const path = modelPath(this.#folder.dataDir, model.name)
    // The follower deletes a file in which it does not trust, and a connection would go on to read it.
    const inode = inodeOf(path)
    const known = this.#readers.get(model.name)
    if (known !== undefined && known.inode !== inode) {
      known.database.close()
      this.#readers.delete(model.name)
    }
    if (inode === null) throw new ModelNotReady(`Cannot read ${path}: it does not exist yet`)
    const database = this.#readers.get(model.name)?.database ?? this.#connect(model.name, { path, inode })
    const version = database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
    if (version !== model.format) throw new ModelNotReady(`Cannot read ${path}: it has format ${version}`)
    if (!isOfLog(database, this.#folder.logId)) throw new ModelNotReady(`Cannot read ${path}: it is of another log`)
    return { database, asOf: readHead(database) }
  }

  close(): void {
    for (const { database } of this.#readers.values()) database.close()
    this.#readers.clear()
  }

  #connect(name: string, { path, inode }: { readonly path: string; readonly inode: number }): Database {
    const database = new Database(path, { readonly: true })
    this.#readers.set(name, { inode, database })
    database.run(`PRAGMA busy_timeout = ${questionBusyMsMax}`)
    database.run(`PRAGMA cache_size = -${questionCacheKib}`)
    return database
  }
}
