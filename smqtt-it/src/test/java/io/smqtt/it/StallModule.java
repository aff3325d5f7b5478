// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.smqtt.BrokerBuilder;
import io.smqtt.BrokerModule;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import io.smqtt.routing.RoutingLoop;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A module on the class path of a tested broker that makes one of its event loops late: a message to {@code stall/begin} blocks it again and
 * again, for 400 of 450 milliseconds, until one to {@code stall/end}.
 */
public final class StallModule implements ModuleProvider {

    /** For the ServiceLoader. */
    public StallModule() {}

    @Override
    public String name() {
        return "stall";
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
        return builder -> builder.module(new Stall());
    }

    private static final class Stall implements BrokerModule {

        private @Nullable Core core;
        private volatile @Nullable ScheduledFuture<?> stalling;

        @Override
        public Mono<Void> start(Core started) {
            core = started;
            return Mono.empty();
        }

        @Override
        public void listening() {
            Core known = java.util.Objects.requireNonNull(core);
            List<RoutingLoop> loops = known.router().loops();
            EventExecutor loop = loops.get(loops.size() - 1).executor();
            known.broker().subscribe("stall/+").subscribe(message -> {
                ScheduledFuture<?> running = stalling;
                if (running != null) {
                    running.cancel(false);
                }
                stalling = message.topic().value().endsWith("begin")
                        ? loop.scheduleWithFixedDelay(Stall::block, 0, 50, TimeUnit.MILLISECONDS)
                        : null;
            });
        }

        private static void block() {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(400);
            while (System.nanoTime() - end < 0) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }
    }
}
