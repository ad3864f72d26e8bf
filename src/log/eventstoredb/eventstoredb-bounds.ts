/** EventStoreDB accepts at most about 1 MiB of data and metadata in one append. */
export const eventStoreAppendBytesMax = 1_000_000
export const eventStoreReadMsMax = 5_000
/**
 * A connection without data for this time gets a ping. Without an answer in `eventStoreKeepAliveTimeoutMs`, it is closed. Only a
 * server that is frozen or cut off needs that: the connection to a killed one breaks at once.
 */
export const eventStoreKeepAliveMs = 1_000
export const eventStoreKeepAliveTimeoutMs = 2_000
/** Size of a message from EventStoreDB, which allows 16 MiB for one event. */
export const eventStoreMessageBytesMax = 17 * 1024 * 1024
