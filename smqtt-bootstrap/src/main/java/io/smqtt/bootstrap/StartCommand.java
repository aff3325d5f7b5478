// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.netty.util.NetUtil;
import io.smqtt.ReloadResult;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import io.smqtt.message.LogText;
import io.smqtt.migrate.Migration;
import io.smqtt.migrate.OldBroker;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Runs a broker until a signal ends it. Standard output carries one line per bound listener and then one that says that
 * all is ready; everything else goes to standard error.
 */
@Command(
        name = "start",
        description = "Starts the broker and runs until SIGTERM or SIGINT. SIGHUP reloads access files, "
                + "certificates and the management token. A second SIGTERM stops at once.")
final class StartCommand implements Callable<Integer> {

    /** The profiles of bin/smqtt, for shells to complete. */
    static final class Profiles implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of("small", "default", "large").iterator();
        }
    }

    /** What the files are called in the data directory that hold the users and rules of another broker. */
    private static final String MIGRATED = "migrated";

    private static final long NOT_STOPPING = Long.MIN_VALUE;

    /** Supervisors signal a process and then its group, so that one request arrives twice. */
    private static final long SAME_REQUEST_NANOS = 500_000_000;

    private final ProgramContext program;

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    ConfigOptions options = new ConfigOptions();

    @Nullable
    @Option(
            names = "--profile",
            paramLabel = "PROFILE",
            completionCandidates = Profiles.class,
            description = "Chooses how bin/smqtt divides the memory: small (one core, 1 GiB, other programs on the "
                    + "machine), default, or large (a machine for the broker only).")
    String profile;

    @Nullable
    @Option(
            names = "--migrate",
            paramLabel = "OLD",
            description = "Starts with the configuration of another broker instead of --config: config.yaml or "
                    + "config.properties of the former smqtt, mosquitto.conf, moquette.conf, emqx.conf. Reports all "
                    + "differences.")
    String migrate;

    @Nullable
    @Option(
            names = "--from",
            paramLabel = "BROKER",
            description = "Names the broker of the --migrate file, if it is not recognized: one of "
                    + "${COMPLETION-CANDIDATES}.")
    OldBroker from;

    @Nullable
    @Option(
            names = "--replace",
            paramLabel = "NODE",
            description =
                    "Starts as NODE of cluster.nodes (the key cluster.node-id), whose machine or disk is lost: the "
                            + "other nodes bring this one up to date. Needs an empty data directory.")
    String replace;

    StartCommand(ProgramContext program) {
        this.program = program;
    }

    @Override
    public Integer call() throws InterruptedException {
        requireProfile();
        String lost = replace;
        if (lost != null) {
            options.settings.add("cluster.node-id=" + lost);
        }
        Plan plan = migrate == null ? new Plan(usable(options.read(program)), () -> {}) : migrated(migrate);
        EffectiveConfig config = plan.config();
        if (lost != null) {
            Replacement.require(lost, config.broker());
        }
        LogbackSetup.apply(config.program().logging());
        Logger log = LoggerFactory.getLogger(StartCommand.class);
        List<String> leftAlone = EnvironmentKeys.leftAlone(program.environment());
        if (!leftAlone.isEmpty()) {
            log.info("ignored environment variables of a service named smqtt: {}", leftAlone);
        }
        CountDownLatch stop = new CountDownLatch(1);
        StartThread start = new StartThread(config.broker().storage().replicas() > 1);
        onStopSignal(stop, start, log);
        AtomicReference<BrokerStarter.@Nullable Running> started = new AtomicReference<>();
        program.signals().onReload(() -> reload(started.get(), log)); // its default action would end the process
        BrokerStarter.Running broker;
        try {
            broker = running(plan);
        } catch (RuntimeException e) {
            if (start.wasEnded()) {
                log.info("stopped before the start was complete: {}", e.getMessage());
                return ExitCode.OK;
            }
            throw e;
        }
        start.ended();
        broker.show(config);
        started.set(broker);
        announce(broker);
        watchHeap(config.broker().storage(), broker, stop, log);
        Duration deadline = config.program().shutdownTimeout();
        log.info("stopping, within {} s", deadline.toSeconds());
        broker.close(deadline);
        log.info("stopped");
        return ExitCode.OK;
    }

    /** Returns when the program has to stop. */
    private void watchHeap(StorageConfig storage, BrokerStarter.Running broker, CountDownLatch stop, Logger log)
            throws InterruptedException {
        HeapRecord record = storage.kind() == StorageConfig.Kind.MEMORY ? null : HeapRecord.in(storage.dir());
        HeapWatch watch = new HeapWatch(
                ProgramHeap.ofProcess(),
                broker::connectionsOpened,
                record,
                program.nanoTime().getAsLong(),
                log);
        while (!stop.await(HeapWatch.INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
            watch.look(program.nanoTime().getAsLong());
        }
        watch.close();
    }

    private BrokerStarter.Running running(Plan plan) {
        EffectiveConfig config = plan.config();
        try {
            return program.brokers().start(config.broker(), config.program().legacy(), plan.beforehand());
        } catch (ConfigurationException e) {
            throw config.explained(e, program.modules());
        }
    }

    /**
     * A configuration that is ready to be started.
     *
     * @param config the configuration
     * @param beforehand writes files that the configuration names
     */
    private record Plan(EffectiveConfig config, Runnable beforehand) {}

    /**
     * Users and rules that the old file holds itself are written into the data directory, anew at each start, when no other
     * broker works there.
     */
    private Plan migrated(String old) {
        if (options.file != null && spec != null) {
            throw new ParameterException(spec.commandLine(), "--config and --migrate exclude each other");
        }
        Path file = program.directory().resolve(old).toAbsolutePath().normalize();
        Migration migration = Migration.read(file, old, from);
        Path beside = file.getParent() == null ? program.directory() : file.getParent();
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        values.put("storage.dir", new ConfigValue("data", "default", beside));
        values.putAll(migration.values(beside, MIGRATED));
        Path data = options.overlay(program, new LinkedHashMap<>(values))
                .broker()
                .storage()
                .dir();
        Map<String, ConfigValue> withoutAccessFiles = new LinkedHashMap<>(values);
        withoutAccessFiles.keySet().removeAll(migration.accessFileKeys());
        values.putAll(migration.values(data, MIGRATED));
        EffectiveConfig config = options.overlay(program, values);
        migration.notes().forEach(program.err()::println);
        // nothing is written for what cannot start
        options.overlay(program, withoutAccessFiles).requireUsable(program.modules());
        return new Plan(config, () -> migration.writeAccessFiles(data, MIGRATED, true));
    }

    private EffectiveConfig usable(EffectiveConfig config) {
        config.requireUsable(program.modules());
        return config;
    }

    /** The profile is a matter of Java's own flags, which only the start script can choose. */
    private void requireProfile() {
        if (profile != null && spec != null && !profile.equals(System.getProperty("smqtt.profile"))) {
            throw new ParameterException(
                    spec.commandLine(), "--profile chooses flags of Java: start with bin/smqtt, or give them to java");
        }
    }

    private void onStopSignal(CountDownLatch stop, StartThread start, Logger log) {
        AtomicLong first = new AtomicLong(NOT_STOPPING);
        program.signals().onStop(() -> {
            long now = program.nanoTime().getAsLong();
            if (!first.compareAndSet(NOT_STOPPING, now) && now - first.get() >= SAME_REQUEST_NANOS) {
                log.warn("second signal: exiting immediately");
                program.signals().halt();
            }
            stop.countDown();
            start.end();
        });
    }

    private void announce(BrokerStarter.Running broker) {
        broker.listeners()
                .forEach((name, address) -> program.out()
                        .println("listener " + name + " bound to " + NetUtil.toSocketAddressString(address)));
        // Since the virtual machine began; its own clock, because the system's tells whole seconds only.
        long began = ManagementFactory.getRuntimeMXBean().getStartTime();
        double seconds = (System.currentTimeMillis() - began) / 1_000.0;
        long pid = ProcessHandle.current().pid();
        program.out().println(String.format(Locale.ROOT, "smqtt started in %.2f s (pid %d)", seconds, pid));
        program.out().flush();
    }

    private static void reload(BrokerStarter.@Nullable Running broker, Logger log) {
        if (broker == null) {
            log.info("nothing reloaded: the broker is still starting");
            return;
        }
        try {
            ReloadResult result = broker.reload();
            if (result.reloaded().isEmpty() && result.failed().isEmpty()) {
                log.info("nothing to reload: no password file, ACL file, certificate or token is configured");
            } else {
                log.info("reloaded: {}", result.reloaded());
            }
            for (String failure : result.failed()) {
                log.error("not reloaded, the previous content stays in effect: {}", LogText.escape(failure));
            }
        } catch (RuntimeException e) {
            log.error("nothing was reloaded, everything stays as it was", e);
        }
    }
}
