import CHiredis

/// The version of hiredis that this was compiled with.
package enum Hiredis {
    package static var version: String { "\(HIREDIS_MAJOR).\(HIREDIS_MINOR).\(HIREDIS_PATCH)" }
}
