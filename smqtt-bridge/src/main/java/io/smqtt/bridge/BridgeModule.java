// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.LogText;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.Election;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The bridges of one broker, each with one or several connections. */
final class BridgeModule implements BrokerModule, Bridges {

    private static final Logger LOG = LoggerFactory.getLogger(BridgeModule.class);
    /** Where other brokers find the identifier by which messages that come back are known. */
    static final String ID_TOPIC = "$SYS/broker/bridge-id";

    private static final Duration DROPS_INTERVAL = Duration.ofSeconds(10);
    private static final int ELECTION_MILLIS = 1_000;
    private static final int LOOK_MILLIS = 1_000;

    private final Map<String, BridgeConfig> configs;
    private final Map<String, BridgeFiles> files;
    private final Disposable.Swap drops = Disposables.swap();
    private final Disposable.Swap looks = Disposables.swap(); // of lazy bridges
    private volatile List<Bridge> bridges = List.of();
    private volatile @Nullable Disposable elections;

    private BridgeModule(Map<String, BridgeConfig> configs, Map<String, BridgeFiles> files) {
        this.configs = configs;
        this.files = files;
    }

    /** Reads passwords and certificates. Blocks; reports all problems at once. */
    static BridgeModule of(BrokerConfig config) {
        List<String> problems = new ArrayList<>(BridgeChecks.problems(config));
        Map<String, BridgeFiles> files = new LinkedHashMap<>();
        config.bridges().forEach((name, bridge) -> {
            try {
                files.put(name, new BridgeFiles(name, bridge));
            } catch (ConfigurationException e) {
                problems.addAll(e.problems());
            }
        });
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return new BridgeModule(config.bridges(), files);
    }

    @Override
    public Mono<Void> start(Core core) {
        String id = Long.toString(ThreadLocalRandom.current().nextLong(1L << 40), Character.MAX_RADIX);
        new StateTopic(core, ID_TOPIC, null).publish(id);
        List<Bridge> all = new ArrayList<>();
        new TreeMap<>(configs).forEach((name, config) -> {
            BridgeFiles ofBridge = Objects.requireNonNull(files.get(name));
            for (int i = 0; i < config.connections(); i++) {
                all.add(new Bridge(name, i, config, ofBridge, core, id));
            }
        });
        bridges = List.copyOf(all);
        if (core.cluster() == null) { // in a cluster they may be those of another node
            endFormer(core);
        }
        return Flux.fromIterable(bridges).flatMap(Bridge::open).then();
    }

    /** Ends the sessions of bridges that are no longer configured: nothing else would ever empty them. */
    private void endFormer(Core core) {
        for (Session session : core.sessions().all()) {
            String id = session.id();
            if (id.startsWith(InProcess.BRIDGE_PREFIX)
                    && bridges.stream().noneMatch(bridge -> bridge.sessionId().equals(id))) {
                LOG.warn(
                        "bridge {} is no longer configured: {} messages for it are discarded",
                        LogText.escape(id.substring(InProcess.BRIDGE_PREFIX.length())),
                        session.queuedCount());
                session.execute(() -> session.terminate(ReasonCode.ADMINISTRATIVE_ACTION));
            }
        }
    }

    @Override
    public void listening() {
        bridges.stream()
                .filter(bridge -> bridge.config().start() != BridgeConfig.Start.MANUAL)
                .forEach(Bridge::start);
        drops.update(Flux.interval(DROPS_INTERVAL)
                .subscribe(tick -> bridges.forEach(bridge -> bridge.own().logDrops())));
        List<Bridge> lazy = bridges.stream()
                .filter(bridge -> bridge.config().start() == BridgeConfig.Start.LAZY)
                .toList();
        if (!lazy.isEmpty()) {
            looks.update(Schedulers.parallel()
                    .schedulePeriodically(
                            () -> lazy.forEach(Bridge::lookAround), LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS));
        }
        List<Bridge> elected = bridges.stream().filter(Bridge::isElected).toList();
        if (!elected.isEmpty()) {
            Set<Bridge> before = ConcurrentHashMap.newKeySet();
            elections = Schedulers.parallel()
                    .schedulePeriodically(
                            () -> elected.forEach(bridge -> elect(bridge, before)),
                            0,
                            ELECTION_MILLIS,
                            TimeUnit.MILLISECONDS);
        }
    }

    /** Chooses a bridge that was chosen the last time, too, so that the former node has ended its connection. */
    private static void elect(Bridge bridge, Set<Bridge> before) {
        bridge.followOrder();
        Supplier<ClusterStatus> cluster = bridge.core().cluster();
        boolean chosen = cluster != null && Election.isChosen(bridge.bridgeName(), cluster.get());
        bridge.choose(chosen && !before.add(bridge));
        if (!chosen) {
            before.remove(bridge);
        }
    }

    private void endElections() {
        Disposable running = elections;
        if (running != null) {
            running.dispose();
        }
    }

    @Override
    public ReloadResult reload() {
        List<String> reloaded = new ArrayList<>();
        List<String> failed = new ArrayList<>();
        for (BridgeFiles each : files.values()) {
            try {
                reloaded.addAll(each.reload());
            } catch (ConfigurationException e) {
                failed.add(String.valueOf(e.getMessage()));
            }
        }
        return new ReloadResult(reloaded, failed);
    }

    @Override
    public void draining() {
        looks.dispose();
        endElections();
        bridges.forEach(Bridge::drain);
    }

    @Override
    public Mono<Void> stop() {
        drops.dispose();
        looks.dispose();
        endElections();
        bridges.forEach(Bridge::stop);
        return Mono.empty();
    }

    @Override
    public Bridges bridges() {
        return this;
    }

    @Override
    public List<BridgeStatus> status() {
        return bridges.stream().map(Bridge::status).toList();
    }

    @Override
    public @Nullable BridgeStatus status(String name) {
        return bridges.stream()
                .filter(bridge -> bridge.name().equals(name))
                .findFirst()
                .map(Bridge::status)
                .orElse(null);
    }

    @Override
    public boolean operate(String name, Operation operation) {
        boolean found = false;
        for (Bridge bridge : bridges) {
            if (bridge.name().equals(name) || bridge.bridgeName().equals(name)) {
                bridge.operate(operation);
                found = true;
            }
        }
        return found;
    }

    @Override
    public String configurationKey() {
        return "bridges";
    }
}
