// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.Broker;
import io.smqtt.ConsumerOptions;
import io.smqtt.ReceivedMessage;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;

/** A broker with a durable consumer: says which messages are safe and which it has taken, until it is killed. */
final class ConsumerProcess {

    static final String SAFE = "safe ";
    static final String TAKEN = "taken ";
    static final ConsumerOptions ORDERS =
            ConsumerOptions.DEFAULTS.durable("orders").window(16);

    private ConsumerProcess() {}

    static Broker start(Path directory) {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        return Objects.requireNonNull(Broker.builder()
                .config(config)
                .store(RocksBrokerStore.open(directory, StoreSettings.defaults()))
                .start()
                .block(Duration.ofSeconds(30)));
    }

    static String text(ReceivedMessage received) {
        return received.message().payload().asString();
    }

    /** Publishes numbers from the second argument on into the store in the first one. */
    public static void main(String[] arguments) throws InterruptedException {
        Broker broker = start(Path.of(arguments[0]));
        CountDownLatch subscribed = new CountDownLatch(1);
        broker.receive("orders", ORDERS.whenSubscribed(subscribed::countDown)).subscribe(received -> {
            say(TAKEN + text(received));
            if (Integer.parseInt(text(received)) % 3 != 0) { // a third stays, and fills the window in the end
                received.acknowledge();
            }
        });
        subscribed.await(); // earlier ones would be nobody's
        for (int i = Integer.parseInt(arguments[1]); ; i++) {
            broker.publish(ApplicationMessage.builder("orders")
                            .payload(Integer.toString(i))
                            .qos(QoS.AT_LEAST_ONCE)
                            .build())
                    .block(Duration.ofSeconds(30));
            say(SAFE + i);
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
