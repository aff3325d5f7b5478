// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.StorageConfig;
import io.smqtt.migrate.legacy.LegacyConfig;
import io.smqtt.persistence.StoreInUseException;
import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class BrokerStarterTest {

    /** Or nobody could ask for health while the node looks for others. */
    @Test
    void theManagementPortIsBoundBeforeTheClusterIsJoined() throws IOException {
        List<String> messages = new CopyOnWriteArrayList<>();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                messages.add(event.getFormattedMessage());
            }
        };
        Logger root = (Logger) LoggerFactory.getLogger("io.smqtt");
        appender.start();
        root.addAppender(appender);
        Level before = root.getLevel();
        root.setLevel(Level.INFO); // whatever a test of the program has set
        try {
            BrokerStarter.CORE
                    .start(nodeOfACluster(), LegacyConfig.NONE, () -> {})
                    .close(Duration.ofSeconds(1));
        } finally {
            root.setLevel(before);
            root.detachAppender(appender);
        }

        assertThat(messages.stream()
                        .filter(message -> message.startsWith("management port bound")
                                || message.matches("node \\S+ with .*")
                                || message.startsWith("listener tcp bound"))
                        .map(message -> message.split(" ")[0]))
                .startsWith("management")
                .contains("listener");
    }

    @Test
    void theProgramHasAllModules() {
        assertThat(ProgramContext.ofProcess().modules())
                .containsExactly(
                        "smqtt-access",
                        "smqtt-admin",
                        "smqtt-bridge",
                        "smqtt-cluster",
                        "smqtt-metric",
                        "smqtt-persistence",
                        "smqtt-rules");
    }

    /** With ports of the system, where the documents show those of the defaults. */
    @ParameterizedTest
    @ValueSource(strings = {"docs/getting-started.md", "deploy/README.md"})
    void theDocumentsShowTheLinesOfAStart(String document) throws IOException {
        BrokerConfig defaults = BrokerConfig.defaults();
        Map<String, ListenerConfig> free = new LinkedHashMap<>();
        List<String> expected = new ArrayList<>();
        defaults.listeners().forEach((name, listener) -> {
            free.put(name, listener.toBuilder().host("127.0.0.1").port(0).build());
            expected.add(name + " " + listener.port());
        });
        expected.add("management " + defaults.management().port());
        BrokerConfig config = defaults.toBuilder()
                .listeners(free)
                .storage(StorageConfig.builder().kind(StorageConfig.Kind.MEMORY).build())
                .management(ManagementConfig.builder().port(0).build())
                .build();
        List<String> shown = Pattern.compile("(?m)^listener (\\S+) bound to \\S+:(\\d+)$")
                .matcher(Files.readString(Path.of("..").resolve(document)))
                .results()
                .map(line -> line.group(1) + " " + line.group(2))
                .toList();

        BrokerStarter.Running running = BrokerStarter.CORE.start(config, LegacyConfig.NONE, () -> {});
        try {
            assertThat(shown).isEqualTo(expected);
            assertThat(shown.stream().map(line -> line.split(" ")[0]))
                    .containsExactlyElementsOf(running.listeners().keySet());
        } finally {
            running.close(Duration.ofSeconds(1));
        }
    }

    @Test
    void nothingIsPreparedInADirectoryWhereAnotherBrokerWorks(@TempDir Path directory) {
        AtomicInteger prepared = new AtomicInteger();
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .storage(StorageConfig.builder()
                        .kind(StorageConfig.Kind.ROCKSDB)
                        .dir(directory)
                        .build())
                .management(ManagementConfig.builder().enabled(false).build())
                .build();
        BrokerStarter.Running first = BrokerStarter.CORE.start(config, LegacyConfig.NONE, prepared::incrementAndGet);
        try {
            assertThat(prepared).hasValue(1);

            assertThatThrownBy(() -> BrokerStarter.CORE.start(config, LegacyConfig.NONE, prepared::incrementAndGet))
                    .isInstanceOf(StoreInUseException.class);
            assertThat(prepared).hasValue(1);
        } finally {
            first.close(Duration.ofSeconds(1));
        }
    }

    private static BrokerConfig nodeOfACluster() throws IOException {
        return BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .storage(StorageConfig.builder().kind(StorageConfig.Kind.MEMORY).build())
                .management(ManagementConfig.builder().port(0).build())
                .cluster(ClusterConfig.builder()
                        .enabled(true)
                        .nodeId("alone")
                        .bind("127.0.0.1:" + LoopbackPorts.one())
                        .build())
                .build();
    }
}
