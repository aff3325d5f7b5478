// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample;

import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** Answers each message below ask/ with one below answer/. */
public final class Main {

    private Main() {}

    /**
     * Runs until the process is told to end.
     *
     * @param args the port; 0 for any free one
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        int port = args.length > 0 ? Integer.parseInt(args[0]) : 1883;
        ListenerConfig listener =
                ListenerConfig.tcp(port).toBuilder().host("127.0.0.1").build();
        BrokerConfig config =
                BrokerConfig.builder().listeners(Map.of("tcp", listener)).build();
        Broker broker = Broker.builder().config(config).start().block();
        broker.subscribe("ask/#")
                .flatMap(message -> broker.publish(ApplicationMessage.builder(
                                "answer" + message.topic().value().substring("ask".length()))
                        .payload(message.payload().asString().toUpperCase())
                        .build()))
                .subscribe();
        System.out.println(
                "listening: tcp on 127.0.0.1:" + broker.listeners().get("tcp").getPort());

        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            broker.close(Duration.ofSeconds(10)).block();
            stopped.countDown();
        }));
        stopped.await();
    }
}
