/**
 * Reads events with the official client and without the service, then ends. The bench compares its time with a start of
 * the service.
 */
import { EventStoreDBClient, START, streamNameFilter } from '@eventstore/db-client'

const [prefix = '', events = ''] = process.argv.slice(2)
const client = EventStoreDBClient.connectionString(process.env['EVENTSTORE_URL'] ?? '')
const subscription = client.subscribeToAll({
  fromPosition: START,
  filter: streamNameFilter({ prefixes: [prefix] }),
})
let read = 0
for await (const { event } of subscription) {
  if (event !== undefined) read += 1
  if (read >= Number(events)) break
}
process.exit()
