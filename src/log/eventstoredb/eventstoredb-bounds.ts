/** EventStoreDB accepts about 1 MiB of data and metadata in one append. */
export const eventStoreAppendBytesMax = 1_000_000
export const eventStoreReadMsMax = 5_000
/** Pings are for a frozen or cut off server: the connection to a killed one breaks at once. */
export const eventStoreKeepAliveMs = 1_000
export const eventStoreKeepAliveTimeoutMs = 2_000
/** EventStoreDB allows 16 MiB for one event. */
export const eventStoreMessageBytesMax = 17 * 1024 * 1024
