import CHiredis

/// The hiredis that this was compiled against.
package enum Hiredis {
    package static var version: String { "\(HIREDIS_MAJOR).\(HIREDIS_MINOR).\(HIREDIS_PATCH)" }
}
