/// A moment of this machine's steady clock: all processes of it agree, so that what one has sent another can time.
package typealias Moment = ContinuousClock.Instant
