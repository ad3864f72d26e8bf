import { isIP } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connectionIdleSecondsMax } from '../http/http-bounds.ts'
import { type Address, type App, askToCloseConnections, openServer, useServer } from '../http/serve.ts'
import { drainMsMax, drainNoticeMs } from '../limits.ts'
import type { Schedule } from '../schedule.ts'
import type { Certificate } from './read-certificate.ts'
import { type Descriptor, SharedPort } from './shared-port.ts'

/**
 * For this time, the former server goes on. Bun would close its idle connections at the stop, while a client sends the next
 * request. Each answer asks the client to leave, and an unused connection is closed before this time ends.
 */
export const leaveMs = (connectionIdleSecondsMax + 10) * 1_000

/** The server, and those before it that still have connections: one for each certificate. */
export class Listener {
  readonly port: number
  readonly #app: App
  readonly #address: Address
  readonly #schedule: Schedule
  readonly #sharedPort: SharedPort | null
  readonly #former = new Set<Bun.Server<unknown>>()
  #current: { readonly server: Bun.Server<unknown>; readonly descriptor: Descriptor }
  #isLeaving = false

  /** @throws if the address is not available */
  constructor(app: App, { hostname, port }: Address, certificate: Certificate | null, schedule: Schedule) {
    this.#app = app
    this.#schedule = schedule
    this.#sharedPort = certificate === null ? null : new SharedPort()
    const open = () => openServer(app, { hostname, port, ...tlsOf(certificate) })
    this.#current = this.#sharedPort?.opened(open) ?? { server: open(), descriptor: null }
    const { server } = this.#current
    useServer(app, server)
    this.port = server.port ?? port
    this.#address = { hostname: isIP(hostname) === 0 ? addressOf(server, hostname) : hostname, port: this.port }
  }

  /**
   * New connections get the new certificate. False: the handover before it has not ended.
   * @throws CannotHandOver, or another error that can pass
   */
  replaceCertificate(certificate: Certificate): boolean {
    const sharedPort = this.#sharedPort
    if (sharedPort === null) throw new Error('the server does not speak TLS')
    if (this.#isLeaving) return false
    const former = this.#current
    sharedPort.share(former.descriptor)
    const next = sharedPort.opened(() =>
      openServer(this.#app, { ...this.#address, ...tlsOf(certificate), hasSharedPort: true }),
    )
    try {
      sharedPort.takeOver(next.descriptor)
    } catch (error) {
      next.server.stop(true)
      throw error
    }
    this.#current = next
    useServer(this.#app, next.server)
    this.#leave(former.server)
    return true
  }

  #leave(former: Bun.Server<unknown>): void {
    this.#isLeaving = true
    this.#former.add(former)
    askToCloseConnections(former, this.#app)
    this.#schedule.after(leaveMs, () => {
      this.#isLeaving = false
      former.stop().then(() => this.#former.delete(former))
    })
  }

  get #servers(): readonly Bun.Server<unknown>[] {
    return [this.#current.server, ...this.#former]
  }

  closeIdleConnections(): void {
    for (const server of this.#servers) server.closeIdleConnections()
  }

  /** First asks each client to close its connection: a device would take a cut connection for a failure. */
  async drain(): Promise<void> {
    for (const server of this.#servers) askToCloseConnections(server, this.#app)
    await wait(drainNoticeMs)
    const stopped = Promise.all(this.#servers.map((server) => server.stop()))
    await Promise.race([stopped, wait(drainMsMax, undefined, { ref: false })])
    await this.stop()
  }

  /** At once. */
  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop(true)))
  }
}

/**
 * A name can lead to another address later. The server's own address lacks the interface of a link-local one, so that is
 * kept as it was given. The types of Bun lack `address`.
 */
const addressOf = (server: Bun.Server<unknown>, hostname: string): string =>
  String(Reflect.get(server, 'address')?.address ?? hostname)

const tlsOf = (certificate: Certificate | null) =>
  certificate === null ? {} : { tls: { cert: certificate.cert, key: certificate.key } }
