/**
 * Also imported with the embedded log. So it must not import the client of EventStoreDB, whose megabytes would slow down
 * each garbage collection.
 */
import { LogUnusable } from '../event-log.ts'

/** A later start can succeed. */
export class StoreUnreachable extends Error {
  override readonly name = 'StoreUnreachable'
}

/** Waiting does not help: for example, the credentials are wrong. */
export class StoreMisfit extends LogUnusable {}
