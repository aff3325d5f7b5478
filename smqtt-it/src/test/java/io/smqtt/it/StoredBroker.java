// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A process with an embedded broker on a stored data directory, to be killed. */
final class StoredBroker {

    private StoredBroker() {}

    /** Starts the process and waits until clients may come. */
    static BrokerProcess start(Path data) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classes = System.getProperty("surefire.real.class.path", System.getProperty("java.class.path"));
        List<String> command = List.of(
                java,
                "-Xmx256m",
                "-Dio.netty.leakDetection.level=disabled",
                "-cp",
                classes,
                StoredBroker.class.getName(),
                data.toString());
        return BrokerProcess.start(new ProcessBuilder(command));
    }

    /**
     * Runs until it is killed.
     *
     * @param arguments the data directory
     */
    public static void main(String[] arguments) throws InterruptedException {
        ListenerConfig listener =
                ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of("tcp", listener))
                .limits(LimitsConfig.builder()
                        .maxQueuedMessages(1_000_000)
                        .maxQueuedBytes(1_000_000_000)
                        .build())
                .build();
        Broker broker = Broker.builder()
                .config(config)
                .store(RocksBrokerStore.open(Path.of(arguments[0]), StoreSettings.defaults()))
                .start()
                .block();
        Objects.requireNonNull(broker)
                .listeners()
                .forEach((name, address) ->
                        System.out.println("listener " + name + " bound to 127.0.0.1:" + address.getPort()));
        System.out.println("smqtt started in a test");
        Thread.currentThread().join();
    }
}
