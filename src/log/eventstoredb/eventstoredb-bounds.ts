/** EventStoreDB accepts at most about 1 MiB of data and metadata in one append. */
export const eventStoreAppendBytesMax = 1_000_000
export const eventStoreReadMsMax = 5_000
/**
 * A silent connection gets a ping. Only a server that is frozen or cut off needs that: the connection to a killed one
 * breaks at once.
 */
export const eventStoreKeepAliveMs = 1_000
export const eventStoreKeepAliveTimeoutMs = 2_000
/** EventStoreDB allows 16 MiB for one event. */
export const eventStoreMessageBytesMax = 17 * 1024 * 1024
