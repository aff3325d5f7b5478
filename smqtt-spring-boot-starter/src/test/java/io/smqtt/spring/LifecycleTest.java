// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerBuilder;
import io.smqtt.BrokerClosedException;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.Interception;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.test.RawClient;
import io.smqtt.transport.BindFailedException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.ClassPathResource;
import reactor.core.publisher.Mono;

/** The broker starts and stops with the application, and beans take part in it. */
@Timeout(120)
class LifecycleTest {

    private final ApplicationContextRunner runner = Contexts.runner();

    @Test
    void clientsAreServedWhileTheApplicationRuns() {
        runner.run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(BrokerLifecycle.class);
            RawClient client = Contexts.client(context);
            assertThat(client.connect("c").reason()).isEqualTo(ReasonCode.SUCCESS);
            BrokerLifecycle lifecycle = context.getBean(BrokerLifecycle.class);
            assertThat(lifecycle.isRunning()).isTrue();
            assertThat(lifecycle.broker().clients().count().block()).isEqualTo(1);

            MqttTemplate template = context.getBean(MqttTemplate.class);
            context.close();

            client.expectDisconnect(ReasonCode.SERVER_SHUTTING_DOWN);
            assertThat(lifecycle.isRunning()).isFalse();
            assertThatThrownBy(lifecycle::broker).isInstanceOf(BrokerClosedException.class);
            assertThatThrownBy(() -> template.publish("t", "x").block()).isInstanceOf(BrokerClosedException.class);
            client.close();
        });
    }

    @Test
    void aStoppedBrokerStartsAgain() {
        runner.run(context -> {
            BrokerLifecycle lifecycle = context.getBean(BrokerLifecycle.class);
            lifecycle.stop();
            assertThat(context.getEnvironment().getProperty("local.smqtt.tcp.port"))
                    .isNull();
            lifecycle.start();

            try (RawClient client = Contexts.client(context)) {
                assertThat(client.connect("c").reason()).isEqualTo(ReasonCode.SUCCESS);
            }
        });
    }

    @Test
    void enabledFalseIsNoBroker() {
        runner.withPropertyValues("smqtt.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(BrokerLifecycle.class)
                        .doesNotHaveBean(BrokerConfig.class)
                        .doesNotHaveBean(MqttTemplate.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {

        final List<String> calls = new CopyOnWriteArrayList<>();

        @Bean
        @Order(2)
        Authenticator second() {
            return request -> {
                calls.add("second");
                return Authentication.accepted("somebody").now();
            };
        }

        @Bean
        @Order(1)
        Authenticator first() {
            return request -> {
                calls.add("first");
                return Authentication.CONTINUE.now();
            };
        }

        @Bean
        Authorizer authorizer() {
            return request -> AccessDecision.ALLOW.now();
        }

        @Bean
        PublishInterceptor interceptor() {
            return (client, message) -> {
                calls.add("intercepted " + message.topic());
                return Mono.just(Interception.forward(message));
            };
        }

        @Bean
        BrokerObserver observer() {
            return new BrokerObserver() {
                @Override
                public void clientConnected(ClientIdentity client, boolean sessionPresent) {
                    calls.add("connected " + client.userName());
                }
            };
        }

        @Bean
        BrokerCustomizer customizer() {
            return (BrokerBuilder builder) -> calls.add("customized");
        }

        @EventListener
        void started(BrokerStartedEvent event) {
            calls.add("started with " + event.broker().listeners().size());
        }
    }

    @Test
    void beansTakePartInTheirOrder() {
        runner.withUserConfiguration(Beans.class).run(context -> {
            List<String> calls = context.getBean(Beans.class).calls;
            try (RawClient client = Contexts.client(context)) {
                client.connect("c");
                client.publish("a/b", "x", 1);
            }

            assertThat(calls)
                    .containsExactly(
                            "customized", "started with 1", "first", "second", "connected somebody", "intercepted a/b");
        });
    }

    @Test
    void enhancedAuthenticationWaitsForTheListenerMethodsToo() {
        EnhancedAuthenticator.Step success = new EnhancedAuthenticator.Step.Success("somebody", Set.of(), null);
        Gate gate = new Gate();
        EnhancedAuthenticator gated = gate.before(new EnhancedAuthenticator() {
            @Override
            public String method() {
                return "test";
            }

            @Override
            public Exchange begin(AuthenticationRequest request) {
                return data -> Mono.just(success);
            }
        });
        EnhancedAuthenticator.Exchange exchange = gated.begin(new AuthenticationRequest(
                "c",
                null,
                null,
                InetSocketAddress.createUnresolved("c", 1),
                "tcp",
                ProtocolVersion.MQTT_5,
                null,
                false));
        CompletableFuture<EnhancedAuthenticator.Step> early =
                exchange.next(null).toFuture();
        assertThat(early).isNotDone();

        gate.open();

        assertThat(early).isCompletedWithValue(success);
        assertThat(exchange.next(null).toFuture()).isCompletedWithValue(success);
        assertThat(gated.method()).isEqualTo("test");
    }

    @Test
    void nothingThatIsOptionalIsNeeded() {
        runner.withClassLoader(new FilteredClassLoader(
                        "org.springframework.boot.actuate",
                        "org.springframework.boot.health",
                        "org.springframework.security",
                        "io.micrometer",
                        "tools.jackson",
                        "com.fasterxml.jackson"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(MqttTemplate.class));
    }

    @Test
    void modulesComeFromTheClassLoaderOfTheApplication(@TempDir Path classes) throws IOException {
        Path services = Files.createDirectories(classes.resolve("META-INF/services"));
        Files.writeString(services.resolve(ModuleProvider.class.getName()), OwnProvider.class.getName() + "\n");
        URLClassLoader own = new URLClassLoader(
                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader());

        runner.withClassLoader(own).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(OwnProvider.MADE).hasValue(1);
        });
        runner.run(context -> assertThat(OwnProvider.MADE).hasValue(1));
    }

    /** A module of the application. */
    public static final class OwnProvider implements ModuleProvider {

        private static final AtomicInteger MADE = new AtomicInteger();

        /** For {@link java.util.ServiceLoader}. */
        public OwnProvider() {}

        @Override
        public String name() {
            return "own";
        }

        @Override
        public Stage stage() {
            return Stage.HOST;
        }

        @Override
        public boolean isWanted(BrokerConfig config) {
            return true;
        }

        @Override
        public Consumer<BrokerBuilder> create(BrokerConfig config) {
            MADE.incrementAndGet();
            return builder -> {};
        }
    }

    @ParameterizedTest
    @CsvSource({
        "cluster.enabled=true, cluster.enabled, smqtt-cluster",
        "storage.kind=rocksdb, storage.kind, smqtt-persistence"
    })
    void aKeyWhoseModuleIsMissingStopsTheStart(String property, String key, String module) {
        runner.withClassLoader(new FilteredClassLoader(
                        new ClassPathResource("META-INF/services/" + ModuleProvider.class.getName())))
                .withPropertyValues("smqtt." + property)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(ConfigurationException.class)
                        .hasMessageContaining(key + " needs the module " + module));
    }

    @Test
    void aDataDirectoryThatCannotBeUsedNamesItsKey(@TempDir Path directory) throws IOException {
        Files.writeString(directory.resolve("store"), "a file\n");
        runner.withPropertyValues("smqtt.storage.kind=rocksdb", "smqtt.storage.dir=" + directory)
                .run(context -> {
                    FailureAnalysis analysis = new BadConfigurationAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .contains("storage.dir: the data in " + directory, "cannot be used");
                });
    }

    @Test
    void aPortInUseNamesTheKeys() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            runner.withPropertyValues("smqtt.listeners.tcp.port=" + taken.getLocalPort())
                    .run(context -> {
                        FailureAnalysis analysis = new PortInUseAnalyzer().analyze(context.getStartupFailure());
                        assertThat(analysis).isNotNull();
                        assertThat(analysis.getDescription()).contains("listener tcp cannot be bound");
                        assertThat(analysis.getAction()).contains("smqtt.listeners.tcp.port");
                    });
        }
    }

    @Test
    void aClusterPortInUseIsNoListener() {
        FailureAnalysis analysis = new PortInUseAnalyzer()
                .analyze(new BindFailedException("cluster", "127.0.0.1:7800", new BindException("in use")));

        assertThat(analysis).isNotNull();
        assertThat(analysis.getAction()).contains("smqtt.cluster.bind").doesNotContain("smqtt.listeners");
    }

    @Test
    void aManagementPortInUseIsNoListener() {
        FailureAnalysis analysis = new PortInUseAnalyzer()
                .analyze(new BindFailedException("management", "127.0.0.1:8080", new BindException("in use")));

        assertThat(analysis).isNotNull();
        assertThat(analysis.getAction())
                .contains("127.0.0.1:8080", "management.server.port")
                .doesNotContain("smqtt.listeners");
    }

    @Test
    void badConfigurationIsExplained() {
        runner.withPropertyValues("smqtt.limits.max-inflght=1").run(context -> {
            FailureAnalysis analysis = new BadConfigurationAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .contains("unknown key limits.max-inflght, did you mean limits.max-in-flight?");
        });
    }

    @Test
    void oldLibrariesAreNamedWithTheirOverrides() {
        assertThatThrownBy(() -> RuntimeVersions.check("4.1.135.Final", "3.7.18", "1.2.18"))
                .satisfies(error -> {
                    FailureAnalysis analysis = new WrongVersionAnalyzer().analyze(error);
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .contains("Netty 4.1.135.Final", "Reactor 3.7.18", "Reactor Netty 1.2.18");
                    assertThat(analysis.getAction()).containsPattern("netty\\.version=4\\.[0-9.]+Final");
                    assertThat(analysis.getAction()).containsPattern("reactor-bom\\.version=20[0-9.]+");
                });
        RuntimeVersions.check("4.2.17.Final", "3.8.0", null);
        RuntimeVersions.check();
    }

    @Test
    void theTopicsOfTheFormerSmqttAreWrittenForWhoMayReadThem(@TempDir Path directory) throws IOException {
        Path rules = Files.writeString(directory.resolve("acl"), "topic read $event/#\n");
        Contexts.runner()
                .withPropertyValues("smqtt.legacy.event-topics=true", "smqtt.access.acl-file=" + rules)
                .run(context -> {
                    try (RawClient watcher = Contexts.client(context);
                            RawClient other = Contexts.client(context)) {
                        watcher.connect("watcher");
                        watcher.subscribe("$event/connect", 0);
                        other.connect("q\"\u0001");

                        assertThat(watcher.expect(MqttMessageType.PUBLISH).text())
                                .matches("\\{\"clientIdentifier\":\"q\\\\\"\\\\u0001\",\"timestamp\":\\d{13},"
                                        + "\"username\":null,\"channelStatus\":\"ONLINE\"}");
                    }
                });
    }
}
