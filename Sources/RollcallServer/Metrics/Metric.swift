// All metrics of a worker. Names and units follow Prometheus conventions. Labels never contain names of users, devices
// or conversations.

/// A metric of a worker.
package enum Metric: String, CaseIterable, Sendable {
    case buildInfo = "rollcall_build_info"
    case ready = "rollcall_ready"
    case draining = "rollcall_draining"

    case connections = "rollcall_connections"
    case connectionsAccepted = "rollcall_connections_accepted_total"
    case connectionsRefused = "rollcall_connections_refused_total"
    case connectionsClosed = "rollcall_connections_closed_total"
    case connectionsBehind = "rollcall_connections_behind"
    case handshakes = "rollcall_handshakes"
    case framesReceived = "rollcall_frames_received_total"
    case framesSent = "rollcall_frames_sent_total"
    case bytesReceived = "rollcall_received_bytes_total"
    case bytesSent = "rollcall_sent_bytes_total"
    case limitsHit = "rollcall_limits_hit_total"
    case tokensRefused = "rollcall_tokens_refused_total"
    case keysAge = "rollcall_keys_age_seconds"
    case certificateExpires = "rollcall_certificate_expires_seconds"
    case certificateLife = "rollcall_certificate_life_seconds"

    case sessions = "rollcall_sessions"
    case sessionsLingering = "rollcall_sessions_lingering"
    case sessionsBehind = "rollcall_sessions_behind"
    case sessionsUnwritten = "rollcall_sessions_unwritten"
    case sessionsDropped = "rollcall_sessions_dropped_total"
    case watchedUsers = "rollcall_watched_users"
    case joinedConversations = "rollcall_joined_conversations"
    case entries = "rollcall_entries"
    case typists = "rollcall_typists"
    case changesUntold = "rollcall_changes_untold"
    case personsMissing = "rollcall_persons_missing"

    case typingSignals = "rollcall_typing_signals_total"
    case typingThrottled = "rollcall_typing_throttled_total"
    case typingPublished = "rollcall_typing_published_total"
    case messagesSent = "rollcall_messages_sent_total"
    case messagesConflated = "rollcall_messages_conflated_total"
    case messagesDropped = "rollcall_messages_dropped_total"
    case typingPublish = "rollcall_typing_publish_seconds"
    case typingDelivery = "rollcall_typing_delivery_seconds"
    case eventLoopLag = "rollcall_event_loop_lag_seconds"

    case auditRead = "rollcall_audit_read_total"
    case auditMended = "rollcall_audit_mended_total"
    case auditRounds = "rollcall_audit_rounds_total"

    case leaseHeld = "rollcall_lease_held"
    case leaseAge = "rollcall_lease_age_seconds"
    case settling = "rollcall_settling_seconds"
    case clockAhead = "rollcall_clock_ahead_seconds"
    case incarnations = "rollcall_incarnations_total"
    case heartbeatsFailed = "rollcall_heartbeats_failed_total"
    case sweptIncarnations = "rollcall_swept_incarnations_total"
    case sweptDevices = "rollcall_swept_devices_total"

    case redisUp = "rollcall_redis_up"
    case redisRefusesWrites = "rollcall_redis_refuses_writes"
    case redisMayEvict = "rollcall_redis_may_evict"
    case redisLacks = "rollcall_redis_lacks"
    case redisMoved = "rollcall_redis_moved"
    case redisConnections = "rollcall_redis_connections"
    case redisConnects = "rollcall_redis_connects_total"
    case redisCommands = "rollcall_redis_commands_total"
    case redisErrors = "rollcall_redis_errors_total"
    case redisWaiting = "rollcall_redis_commands_waiting"
    case redisMessages = "rollcall_redis_messages_total"
    case redisSubscriptions = "rollcall_redis_subscriptions"
    case redisBytesReceived = "rollcall_redis_received_bytes_total"
    case redisBytesSent = "rollcall_redis_sent_bytes_total"
    case redisRoundTrip = "rollcall_redis_round_trip_seconds"

    case adminRefused = "rollcall_admin_refused_total"

    case events = "rollcall_events"
    case webhookAge = "rollcall_webhook_age_seconds"
    case eventsRefused = "rollcall_events_refused"
    case webhookReplaced = "rollcall_webhook_replaced_total"
    case webhookDeliveries = "rollcall_webhook_deliveries_total"

    case accessQuestions = "rollcall_access_questions_total"
    case accessWaiting = "rollcall_access_waiting"
    case accessTime = "rollcall_access_seconds"

    case cpuSeconds = "process_cpu_seconds_total"
    case residentMemory = "process_resident_memory_bytes"
    case openFiles = "process_open_fds"
    case mostOpenFiles = "process_max_fds"
    case startTime = "process_start_time_seconds"

    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package var kind: Kind {
        switch self {
        case .typingPublish, .typingDelivery, .eventLoopLag, .redisRoundTrip, .accessTime: .histogram
        default: rawValue.hasSuffix("_total") ? .counter : .gauge
        }
    }
}
