// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.ConfigurationException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A disk in whose place another one was admitted comes back, while that is away. It lacks an entry that is on the new one and one other member; with the
 * third member, which lacks it too, it would be a majority.
 */
@Tag("slow")
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class ReplacedDiskTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private final String cluster = UUID.randomUUID().toString();
    private final Map<String, Integer> ports = TestStack.ports(Set.of("a", "b", "c"));
    private TestMember a;
    private TestMember b;
    private TestMember c;

    @BeforeEach
    void create() {
        a = new TestMember(cluster, "a", ports, folder);
        a.home = "a";
        b = new TestMember(cluster, "b", ports, folder);
        b.home = "a";
        c = new TestMember(cluster, "c", ports, folder);
        c.home = "a";
    }

    @AfterEach
    void stop() {
        a.stop();
        b.stop();
        c.stop();
    }

    private static void awaitVoter(TestMember member) {
        await().atMost(PATIENCE).until(() -> member.group.figures().isVoter());
    }

    private void commit(String content) throws Exception {
        await().atMost(PATIENCE).until(a::leads);
        a.propose(content).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** The entry 2 is on a and on the new disk of c; both are away, and the former disk of c is back. */
    private void replace() throws Exception {
        a.start();
        b.start();
        c.start();
        await().atMost(PATIENCE)
                .until(() -> a.leads()
                        && Stream.of(a, b, c)
                                .allMatch(member -> member.group.present().size() == 3));
        commit("1");
        awaitVoter(c);
        c.kill();
        Path former = folder.resolve("former");
        Files.move(c.directory, former);
        c.state = new RecordedState();
        c.start();
        awaitVoter(c);
        b.kill();
        commit("2");
        a.kill();
        c.kill();
        c.wipe();
        Files.move(former, c.directory);
    }

    @Test
    void itIsRefused() throws Exception {
        replace();
        b.start();

        assertThatThrownBy(() -> c.start())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("another disk of this node has been admitted");
        a.start();
        commit("3");
        assertThat(a.state.entries()).containsExactly("1", "2", "3");
    }

    @Test
    void itHasNoVoteIfItIsThereFirst() throws Exception {
        replace();
        c.start();
        long before = c.group.figures().term();
        b.start();
        await().atMost(PATIENCE).until(() -> c.group.figures().term() > before + 1); // it asks in vain
        assertThat(b.leads()).isFalse();
        assertThat(c.leads()).isFalse();
        assertThat(b.group.hasMajority()).isFalse();

        a.start();
        commit("3");
        assertThat(a.state.entries()).containsExactly("1", "2", "3");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(b.state.entries()).containsExactly("1", "2", "3"));
    }
}
