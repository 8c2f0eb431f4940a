// The script person_write, and reads of person:{USER}.

public import RollcallProtocol

extension TwinRedis {
    /// Changes a user's person, and publishes that.
    public mutating func write(_ write: PersonWrite) -> PersonWritten {
        let stored = persons[write.user]
        let isRestored = write.known.map { $0.revision > stored?.revision ?? 0 } ?? false
        let before = (isRestored ? write.known : stored) ?? Person()
        var person = before
        if write.kind != .patch || !write.settings.isEmpty || !write.blocks.isEmpty {
            person = before.current(at: time)
            let wasHidden = person.hidesAll
            if write.kind != .patch { for field in Person.Field.settings { _ = person.set(field, to: nil) } }
            if write.kind == .all { person.blocked = person.blocked.filter { write.blocks[$0.key] != nil } }
            for (field, value) in write.settings { _ = person.set(field, to: value) }
            for (user, isBlocked) in write.blocks {
                person.blocked[user] = isBlocked ? person.blocked[user] ?? time : nil
            }
            if wasHidden, !person.hidesAll { _ = person.set(.unseen, to: ByteString("\(time.milliseconds)")) }
        }
        let changed = Set(before.blocked.keys).symmetricDifference(person.blocked.keys)
        guard person.blocked.count <= Person.mostBlocked || changed.isEmpty else {
            return PersonWritten(
                time: time, person: stored, isTooMuch: true, incarnations: incarnations(of: write.user))
        }
        let differs = person != before
        if differs { person.revision = max(person.revision + 1, self.stored(write.user).person + 1, time.milliseconds) }
        if !changed.isEmpty { person.blocksRevision = person.revision }
        if differs || isRestored {
            persons[write.user] = person
            presences[write.user]?.value.person = person.revision
            let block = changed.count == 1 ? changed.first : nil
            published.append(
                .person(
                    PersonChange(
                        user: write.user, person: person,
                        block: block.map {
                            .init($0, isBlocked: person.blocked[$0] != nil, was: before.blocksRevision)
                        }, at: time)))
            if settings.appendsEvents, differs {
                var told = Person(revision: person.revision)
                for field in Person.Field.settings { _ = told.set(field, to: person[field]) }
                append(.person(write.user, told))
            }
        }
        return PersonWritten(
            time: time, person: person.revision > 0 ? person : nil, incarnations: incarnations(of: write.user))
    }

    public func person(of user: UserID) -> Person? { persons[user] }

    /// What an audit reads of the user's person.
    public func personRevisions(of user: UserID) -> DeviceStanding.PersonRevisions {
        let named = stored(user).person
        return .init(named: named, stored: named > 0 ? persons[user]?.revision ?? 0 : 0)
    }

    private func incarnations(of user: UserID) -> [Incarnation] { record(of: user).incarnations.sorted() }
}
