/** The official client by itself, in a process of its own: it reads that many events of streams with that prefix, and ends. */
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
