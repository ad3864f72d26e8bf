/**
 * Creates the EventStoreDB user of the service. compose.cluster.yaml runs this file at each `up`, so the user can exist
 * already. The user is in no group, so it cannot manage users or read system streams. It may read `$all`, the stream of
 * all events.
 *
 *   EVENTSTORE_ADMIN_URL  esdb://admin:…@store-1:2113,store-2:2113?tls=true&tlsCaFile=…
 *   STORE_USER            the name of the user
 *   STORE_PASSWORD        the password of the user; a user that exists already gets it, too
 */
import { readFileSync } from 'node:fs'
import { EventStoreDBClient } from '@eventstore/db-client'
import { messageOf } from '../src/domain/error-message.ts'
import { type EventStoreSettings, parseEventStoreUrl } from '../src/eventstore-url.ts'

export type StoreUser = { readonly name: string; readonly password: string }

/** How to reach EventStoreDB's HTTP interface as an admin. */
export type ManagedStore = {
  readonly urls: readonly string[]
  /** `name:password`. */
  readonly admin: string
  /** The CA's certificate as PEM. `null` means that the CAs of the system are trusted. */
  readonly ca: string | null
}

const triesMax = 60
const pauseMs = 2_000
const answerMsMax = 5_000

/**
 * Creates the user, or gives an existing user the password. Asks each node in turn, because only the leader creates
 * users. @throws Error with the answer of each node.
 */
export const makeUser = async (store: ManagedStore, user: StoreUser): Promise<void> => {
  const said: string[] = []
  for (const url of store.urls) {
    const made = await post(store, `${url}/users`, {
      LoginName: user.name,
      FullName: 'Cellarbook',
      Groups: [],
      Password: user.password,
    })
    if (made === 201) return
    if (made === 409) {
      const path = `/users/${encodeURIComponent(user.name)}/command/reset-password`
      const reset = await post(store, url + path, { NewPassword: user.password })
      if (reset === 200) return
      said.push(`${url}: ${reset} to the new password`)
    } else said.push(`${url}: ${made}`)
  }
  throw new Error(`Cannot make the user "${user.name}": ${said.join(', ')}`)
}

/**
 * Returns the HTTP status, or a text with the fault. Follows no redirect to the leader: `makeUser` asks the next node
 * anyway.
 */
const post = async ({ admin, ca }: ManagedStore, url: string, body: object): Promise<number | string> => {
  const headers = {
    Authorization: `Basic ${Buffer.from(admin).toString('base64')}`,
    'Content-Type': 'application/json',
    Accept: 'application/json',
  }
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMsMax),
      ...(ca === null ? {} : { tls: { ca } }),
    })
    await answer.body?.cancel()
    return answer.status
  } catch (error) {
    return messageOf(error)
  }
}

/** Lets the user read `$all`, the stream of all events. Keeps all other settings of `$all`. */
export const letReadAll = async (client: EventStoreDBClient, name: string): Promise<void> => {
  const { metadata = {} } = await client.getStreamMetadata('$all')
  const acl = typeof metadata.acl === 'object' ? metadata.acl : {}
  const readers = acl.readRoles ?? ['$admins']
  if (readers.includes(name)) return
  await client.setStreamMetadata('$all', { ...metadata, acl: { ...acl, readRoles: [...readers, name] } })
}

const managedStoreOf = (settings: Omit<EventStoreSettings, 'prefix'>): ManagedStore => {
  const { endpoints, tls, credentials } = settings
  const scheme = tls === null ? 'http' : 'https'
  return {
    urls: endpoints.map(({ host, port }) => `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`),
    admin: `${credentials?.username ?? ''}:${credentials?.password ?? ''}`,
    ca: tls?.caPath ? readFileSync(tls.caPath, 'utf8') : null,
  }
}

const settingOf = (name: string): string => {
  const value = process.env[name]
  if (value) return value
  throw new Error(`${name} is not set`)
}

const main = async (): Promise<void> => {
  const url = settingOf('EVENTSTORE_ADMIN_URL')
  const user = { name: settingOf('STORE_USER'), password: settingOf('STORE_PASSWORD') }
  const parsed = parseEventStoreUrl(url)
  if ('rule' in parsed) throw new Error(`EVENTSTORE_ADMIN_URL (not shown): ${parsed.rule}`)
  const store = managedStoreOf(parsed.value)
  for (let left = triesMax; ; left -= 1) {
    const client = EventStoreDBClient.connectionString(url)
    try {
      await makeUser(store, user)
      await letReadAll(client, user.name)
      return
    } catch (error) {
      // A new store needs time to choose its leader, so the first tries can fail.
      if (left <= 1) throw error
      await Bun.sleep(pauseMs)
    } finally {
      await client.dispose()
    }
  }
}

if (import.meta.main) {
  try {
    await main()
    process.stdout.write('The store user is there, and may read $all.\n')
    process.exit(0)
  } catch (error) {
    process.stderr.write(`store-user: ${JSON.stringify(messageOf(error))}\n`)
    process.exit(1)
  }
}
