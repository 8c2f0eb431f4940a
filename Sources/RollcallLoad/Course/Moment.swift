/// A moment on this machine's monotonic clock. All its processes share this clock, so one can time what another has
/// sent.
package typealias Moment = ContinuousClock.Instant
