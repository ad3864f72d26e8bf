/**
 * A start with the embedded log imports this file too. So it must not import the client of EventStoreDB, whose megabytes
 * would slow down each garbage collection.
 */

/** No leader answered. A later start can succeed. */
export class StoreUnreachable extends Error {
  override readonly name = 'StoreUnreachable'
}

/** Waiting does not help: for example, the credentials are wrong or the server is too old. */
export class StoreMisfit extends Error {
  override readonly name = 'StoreMisfit'
}
