import ArgumentParser
@main struct R: ParsableCommand { func run() { print("hi") } }
