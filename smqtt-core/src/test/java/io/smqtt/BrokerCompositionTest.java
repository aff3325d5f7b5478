// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.StorageConfig;
import io.smqtt.spi.BrokerStore;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class BrokerCompositionTest {

    private static final List<String> CALLS = new ArrayList<>();
    private static final BrokerConfig CONFIG = BrokerConfig.builder()
            .listeners(Map.of(
                    "tcp", ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
            .build();

    @TempDir
    Path jar;

    @BeforeEach
    void forget() {
        CALLS.clear();
    }

    @Test
    void modulesAreMadeBeforeOneIsAddedAndStartInTheirOrder() throws IOException {
        Broker broker = BrokerComposition.ofProgram(CONFIG, jarWith(Traces.class, Meters.class))
                .add(builder -> builder.module(new Named("host")))
                .finish(builder -> CALLS.add("finish"))
                .start();
        broker.close(Duration.ofSeconds(1)).block();

        assertThat(CALLS)
                .containsExactly(
                        "create meters",
                        "create traces",
                        "add meters",
                        "add traces",
                        "finish",
                        "start meters",
                        "start host",
                        "start traces",
                        "stop traces",
                        "stop host",
                        "stop meters");
    }

    @Test
    void anApplicationDoesWithoutModulesForPrograms() throws IOException {
        BrokerComposition parts = BrokerComposition.ofApplication(CONFIG, jarWith(Traces.class, Meters.class));
        parts.start().close(Duration.ofSeconds(1)).block();

        assertThat(CALLS).contains("start traces").doesNotContain("create meters");
        assertThat(parts.module(Named.class)).extracting(named -> named.name).isEqualTo("traces");
    }

    @Test
    void keysWhoseModulesAreMissingStopTheStart() throws IOException {
        BrokerConfig config = CONFIG.toBuilder()
                .cluster(ClusterConfig.builder().enabled(true).build())
                .storage(
                        StorageConfig.builder().kind(StorageConfig.Kind.ROCKSDB).build())
                .build();
        ClassLoader loader = jarWith(Traces.class);

        assertThatThrownBy(() -> BrokerComposition.ofApplication(config, loader).start())
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        refused -> assertThat(refused.problems())
                                .containsExactly(
                                        "cluster.enabled needs the module smqtt-cluster",
                                        "storage.kind needs the module smqtt-persistence"));
        assertThat(CALLS).isEmpty();
        assertThat(BrokerComposition.modules(loader)).isEqualTo(Set.of("traces"));
    }

    @Test
    void allThatModulesRefuseIsFoundWithoutAStart() throws IOException {
        BrokerComposition parts = BrokerComposition.ofProgram(CONFIG, jarWith(Traces.class, Meters.class));

        assertThatThrownBy(parts::check)
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        refused -> assertThat(refused.problems()).containsExactly("no meters", "no traces"));
        assertThat(CALLS).isEmpty();
    }

    @Test
    void aStartThatFailsClosesTheStore() throws IOException {
        BrokerStore store = (BrokerStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {BrokerStore.class}, (proxy, method, arguments) -> {
                    CALLS.add("store " + method.getName());
                    return null;
                });
        BrokerComposition parts = BrokerComposition.ofProgram(CONFIG, jarWith())
                .store(store)
                .add(builder -> {
                    throw new IllegalStateException("no");
                });

        assertThatThrownBy(parts::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no");
        assertThat(CALLS).containsExactly("store close");
    }

    @Test
    void modulesThatAreNotAddedAreClosed() throws IOException {
        BrokerComposition parts = BrokerComposition.ofProgram(CONFIG, jarWith(Holders.class, Meters.class))
                .add(builder -> {
                    throw new IllegalStateException("no");
                });

        assertThatThrownBy(parts::start).isInstanceOf(IllegalStateException.class);
        assertThat(CALLS)
                .containsExactly("create meters", "create holders", "add meters", "close holders", "stop meters");
    }

    @Test
    void modulesAreClosedIfALaterOneCannotBeCreated() throws IOException {
        BrokerComposition parts =
                BrokerComposition.ofProgram(CONFIG, jarWith(Broken.class, Holders.class, Meters.class));

        assertThatThrownBy(parts::start).isInstanceOf(ConfigurationException.class);
        assertThat(CALLS).containsExactly("create meters", "create holders", "close holders");
    }

    @Test
    void partsOfTheApplicationAreChecked() throws IOException {
        BrokerComposition parts = BrokerComposition.ofProgram(CONFIG, jarWith(Broken.class))
                .parts(new ApplicationParts() {
                    @Override
                    public <T> List<T> of(Class<T> type) {
                        return List.of(type.cast("a part"));
                    }
                });

        assertThatThrownBy(parts::check).hasMessageContaining("broken with a part");
    }

    private ClassLoader jarWith(Class<?>... providers) throws IOException {
        Path services = Files.createDirectories(jar.resolve("META-INF/services"));
        List<String> names = List.of(providers).stream().map(Class::getName).toList();
        Files.write(services.resolve(ModuleProvider.class.getName()), names);
        return new URLClassLoader(new URL[] {jar.toUri().toURL()}, getClass().getClassLoader());
    }

    /** Records what happens to it. */
    private static final class Named implements BrokerModule {

        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public Mono<Void> start(Core core) {
            return Mono.fromRunnable(() -> CALLS.add("start " + name));
        }

        @Override
        public Mono<Void> stop() {
            return Mono.fromRunnable(() -> CALLS.add("stop " + name));
        }
    }

    /** Makes a module that records what happens to it. */
    abstract static class Recording implements ModuleProvider {

        @Override
        public boolean isWanted(BrokerConfig config) {
            return true;
        }

        @Override
        public Consumer<BrokerBuilder> create(BrokerConfig config) {
            CALLS.add("create " + name());
            return builder -> {
                CALLS.add("add " + name());
                builder.module(new Named(name()));
            };
        }

        @Override
        public void check(BrokerConfig config) {
            throw new ConfigurationException("no " + name());
        }
    }

    /** First, and not for applications. */
    public static final class Meters extends Recording {

        /** For {@link java.util.ServiceLoader}. */
        public Meters() {}

        @Override
        public String name() {
            return "meters";
        }

        @Override
        public Stage stage() {
            return Stage.METRICS;
        }

        @Override
        public boolean isForProgramsOnly() {
            return true;
        }
    }

    /** Last. */
    public static final class Traces extends Recording {

        /** For {@link java.util.ServiceLoader}. */
        public Traces() {}

        @Override
        public String name() {
            return "traces";
        }

        @Override
        public Stage stage() {
            return Stage.TRACES;
        }
    }

    /** Has something to close. */
    public static final class Holders extends Recording {

        /** For {@link java.util.ServiceLoader}. */
        public Holders() {}

        @Override
        public String name() {
            return "holders";
        }

        @Override
        public Stage stage() {
            return Stage.CLUSTER;
        }

        @Override
        public Consumer<BrokerBuilder> create(BrokerConfig config) {
            return new Holder(super.create(config));
        }
    }

    private record Holder(Consumer<BrokerBuilder> addition) implements Consumer<BrokerBuilder>, AutoCloseable {

        @Override
        public void accept(BrokerBuilder builder) {
            addition.accept(builder);
        }

        @Override
        public void close() {
            CALLS.add("close holders");
        }
    }

    /** Cannot be created. */
    public static final class Broken extends Recording {

        /** For {@link java.util.ServiceLoader}. */
        public Broken() {}

        @Override
        public String name() {
            return "broken";
        }

        @Override
        public Stage stage() {
            return Stage.TRACES;
        }

        @Override
        public Consumer<BrokerBuilder> create(BrokerConfig config) {
            throw new ConfigurationException("broken");
        }

        @Override
        public void check(BrokerConfig config, ApplicationParts parts) {
            throw new ConfigurationException(
                    "broken with " + parts.of(String.class).get(0));
        }
    }
}
