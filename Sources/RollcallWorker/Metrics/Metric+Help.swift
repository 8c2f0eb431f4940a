// The help text of each metric on the Prometheus page.

import RollcallServer

extension Metric {
    var help: String {
        switch self {
        case .buildInfo: "Always 1. The label is the version of Rollcall."
        case .ready: "Whether the worker accepts new devices, as GET /ready reports."
        case .draining: "Whether the worker is stopping and sends its devices to other workers."
        case .connections: "Open WebSockets, including those that have not sent hello."
        case .connectionsAccepted: "Connections that became WebSockets."
        case .connectionsRefused: "Connections that did not become WebSockets, by reason."
        case .connectionsClosed: "WebSockets that ended, by who closed (worker, peer, nobody) and the close code."
        case .connectionsBehind: "WebSockets with outgoing data that the kernel has not accepted yet."
        case .handshakes: "Connections that are not WebSockets yet."
        case .framesReceived: "Complete messages and control frames received on WebSockets."
        case .framesSent: "Frames sent on WebSockets."
        case .bytesReceived: "Bytes received on WebSockets."
        case .bytesSent: "Bytes sent on WebSockets."
        case .limitsHit: "How often a limit took effect, by limit."
        case .tokensRefused: "Tokens that were refused, by code."
        case .sessions: "Sessions that are welcomed and connected."
        case .sessionsLingering: "Sessions that ended but whose records are not final yet, including those in grace."
        case .sessionsBehind: "Sessions with updates or answers that are not sent yet."
        case .sessionsUnwritten: "Sessions whose current state is not in Redis yet; retried at each heartbeat."
        case .sessionsDropped: "Sessions without a connection that were dropped because there were too many."
        case .watchedUsers: "Watched users, counted once for each event loop."
        case .joinedConversations: "Joined conversations, counted once for each event loop."
        case .entries: "Conversations that sessions have open, and those that they exited within the last lease."
        case .typists: "Users who type in joined conversations, as last sent to sessions."
        case .changesUntold: "Users and conversations with a change that no session has been sent yet."
        case .personsMissing:
            "Users who are hidden because Redis lacks what they decided that others see. Set it again over HTTP."
        case .typingSignals: "Typing signals from clients, including stops."
        case .typingThrottled: "Typing signals that arrived within the throttle and were deferred."
        case .typingPublished: "Typing signals and stops that Redis accepted and published."
        case .messagesSent: "Messages sent to sessions, by type."
        case .messagesConflated: "Changes that a slow session did not receive because a newer state replaced them."
        case .messagesDropped: "Messages to sessions that had just ended."
        case .typingPublish:
            "Time from a typing signal, after any throttling, until Redis confirms that it is published."
        case .typingDelivery:
            "Time from a typing change in Redis until it is written to the sockets; approximate, because Redis's "
                + "clock is estimated from heartbeats."
        case .eventLoopLag: "How late a timer of an event loop fires, measured ten times a second."
        case .auditRead: "Records compared with the state of their sessions."
        case .auditMended: "Records that differed from the state of their sessions and were written again."
        case .auditRounds: "How often the audit of an event loop completed a pass over its sessions."
        case .leaseHeld: "Whether the worker holds a lease."
        case .leaseAge: "Time since the last heartbeat that Redis acknowledged."
        case .settling:
            "How long outages of Redis have not settled: until they do, users of dead workers count as online."
        case .clockAhead: "How far this host's clock is ahead of Redis's; negative if it is behind."
        case .incarnations: "Leases acquired. Each after the first means that a lease was lost or Redis was away."
        case .heartbeatsFailed: "Heartbeats that Redis did not answer, or refused."
        case .sweptIncarnations: "Ended leases (after a crash, a stop or an outage) whose records were cleaned up."
        case .sweptDevices: "Devices taken offline because their worker's lease had ended and they had not reconnected."
        case .redisUp: "Whether the connection for heartbeats is open."
        case .redisRefusesWrites:
            "Whether there is a connection but the last two heartbeats or more failed: Redis refuses writes (such as MISCONF)."
        case .redisMayEvict:
            "Whether Redis, when the worker started, was set to delete keys to make room (maxmemory-policy)."
        case .redisConnections: "Open connections to Redis, by purpose."
        case .redisConnects: "Connections to Redis that were established, by purpose."
        case .redisCommands: "Commands sent to Redis."
        case .redisErrors: "Error replies from Redis, and connections that were lost or failed, by kind."
        case .redisWaiting: "Commands that wait for their replies."
        case .redisMessages: "Messages received on subscribed channels."
        case .redisSubscriptions: "Channels that are subscribed or about to be."
        case .redisBytesReceived: "Bytes received from Redis."
        case .redisBytesSent: "Bytes sent to Redis."
        case .redisRoundTrip: "Time from sending a command to its reply, in pipelines."
        case .adminRefused: "Requests to the admin port without a sufficient token, by reason."
        case .events: "Entries of the stream of events."
        case .keysAge: "Time since auth.jwks_url was last read, or first asked."
        case .certificateExpires: "Time until the certificate of a port expires; negative once it has."
        case .certificateLife: "The whole lifetime of the certificate of a port."
        case .redisLacks: "Whether Redis denies, or does not know, something that a worker needs."
        case .redisMoved:
            "Whether the name of redis.url leads to another address than the connections, and it is not known to be the same server."
        case .webhookAge:
            "Age of the oldest event that the webhook has not taken; 0 at workers that do not deliver, absent while it is not known."
        case .eventsRefused: "Whether Redis refuses to append events."
        case .webhookReplaced: "Events that the webhook never took, and for which it was sent a reset."
        case .webhookDeliveries: "Deliveries to the webhook, by result."
        case .accessQuestions:
            "Questions to the app's server about who may join, by result: allowed, denied or unanswered."
        case .accessWaiting: "Questions about who may join that have no answer yet."
        case .accessTime: "Time from a request to the app's server about who may join until its answer or failure."
        case .cpuSeconds: "Processor time that the process has used."
        case .residentMemory: "Memory of the process that is in RAM."
        case .openFiles: "Files and sockets that the process has open."
        case .mostOpenFiles: "How many files and sockets the process may have open."
        case .startTime: "When the process started, in seconds since 1970."
        }
    }
}
