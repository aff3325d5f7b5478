// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jgroups.protocols.DISCARD;
import org.jgroups.stack.Protocol;

/** A member of a group in this JVM, on a channel over TCP on the loopback interface. */
final class TestMember implements RaftGroup.Listener {

    private static final long JOIN_MILLIS = 60_000;

    final String name;
    final Path directory;
    RecordedState state = new RecordedState();
    String home;
    Duration detection = TestStack.SOON;
    Duration votesAfter = Duration.ZERO;
    int maxEntries = 100;
    LogLimits log = LogLimits.defaults();
    volatile RaftGroup group;
    volatile long term;
    volatile Throwable failure;

    private final String cluster;
    private final Map<String, Integer> ports;
    private DISCARD discard;
    private GroupChannel channel;

    TestMember(String cluster, String name, Map<String, Integer> ports, Path folder) {
        this.cluster = cluster;
        this.name = name;
        this.ports = ports;
        directory = folder.resolve(name);
    }

    void start() {
        try {
            term = 0;
            failure = null;
            discard = new DISCARD();
            group = RaftGroup.open(
                    new GroupSettings("g", 0, name, ports.keySet(), home, directory, maxEntries, 1 << 20, log),
                    state,
                    this);
            List<Protocol> stack = new ArrayList<>(TestStack.reliable(name, ports, discard, detection));
            stack.add(new LateVotes(votesAfter));
            channel = GroupChannel.create(stack, name, List.of(group));
            channel.connect(cluster, JOIN_MILLIS);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Nothing comes in or goes out any more. */
    void isolate() {
        discard.discardAll(true);
    }

    void rejoin() {
        discard.discardAll(false);
    }

    /** Ends without a word to the others. */
    void kill() {
        isolate();
        stop();
    }

    void stop() {
        try {
            if (channel != null) {
                channel.close();
                channel = null;
                term = 0;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Loses its disk. */
    void wipe() {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        state = new RecordedState();
    }

    boolean leads() {
        return term != 0;
    }

    CompletableFuture<Long> propose(String content) {
        return propose(term, content);
    }

    CompletableFuture<Long> propose(long inTerm, String content) {
        return group.propose(inTerm, content.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void leading(long now) {
        term = now;
    }

    @Override
    public void following() {
        term = 0;
    }

    @Override
    public void failed(Throwable cause) {
        failure = cause;
        term = 0;
    }

    @Override
    public String toString() {
        return name;
    }
}
