// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.BrokerStore;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Assembles one broker from its configuration, the modules of the class path that the configuration asks for
 * ({@link ModuleProvider}), and the additions of the program or application. Not thread-safe.
 */
public final class BrokerComposition {

    private final BrokerConfig config;
    private final boolean program;
    private final List<ModuleProvider> providers;
    private final BrokerBuilder builder = Broker.builder();
    private Consumer<BrokerBuilder> host = own -> {};
    private Consumer<BrokerBuilder> last = own -> {};
    private Runnable prepare = () -> {};
    private @Nullable BrokerStore store;
    private ApplicationParts parts = ApplicationParts.NONE;

    private BrokerComposition(BrokerConfig config, ClassLoader loader, boolean program) {
        this.config = config;
        this.program = program;
        providers = providers(loader);
        builder.config(config);
    }

    /**
     * Starts the composition of a broker that is a program of its own, with all modules that the configuration asks for.
     *
     * @param config the configuration
     * @param loader finds the modules
     * @return a composition, to be started once
     */
    public static BrokerComposition ofProgram(BrokerConfig config, ClassLoader loader) {
        return new BrokerComposition(config, loader, true);
    }

    /**
     * Starts the composition of a broker inside an application, without modules that are for programs only.
     *
     * @param config the configuration
     * @param loader finds the modules: the application's own
     * @return a composition, to be started once
     */
    public static BrokerComposition ofApplication(BrokerConfig config, ClassLoader loader) {
        return new BrokerComposition(config, loader, false);
    }

    /**
     * Lists the modules that are on the class path.
     *
     * @param loader finds the modules
     * @return the names of their artifacts, in alphabetical order
     */
    public static Set<String> modules(ClassLoader loader) {
        Set<String> names = new TreeSet<>();
        providers(loader).forEach(provider -> names.add(provider.name()));
        return names;
    }

    private static List<ModuleProvider> providers(ClassLoader loader) {
        List<ModuleProvider> found = new ArrayList<>();
        ServiceLoader.load(ModuleProvider.class, loader).forEach(found::add);
        found.sort(Comparator.comparing(ModuleProvider::stage).thenComparing(ModuleProvider::name));
        return found;
    }

    /**
     * Replaces the store of the configuration. The broker closes it.
     *
     * @param own a store that has not been read yet, or null for the store of the configuration
     * @return this
     */
    public BrokerComposition store(@Nullable BrokerStore own) {
        store = own;
        return this;
    }

    /**
     * Gives the modules parts that the application has made itself.
     *
     * @param own asked by {@link #start}
     * @return this
     */
    public BrokerComposition parts(ApplicationParts own) {
        parts = own;
        return this;
    }

    /**
     * Adds parts of the program or application, at {@link ModuleProvider.Stage#HOST}.
     *
     * @param more called by {@link #start}, when the store is open and before the core reads the files of the configuration; may
     *     block
     * @return this
     */
    public BrokerComposition add(Consumer<BrokerBuilder> more) {
        host = host.andThen(more);
        return this;
    }

    /**
     * Adds a step that writes files which the configuration names, before any of them is read.
     *
     * @param step called by {@link #start}, when the store is open and so the data directory is this broker's own; may block
     * @return this
     */
    public BrokerComposition prepare(Runnable step) {
        prepare = step;
        return this;
    }

    /**
     * Adds {@link EventTopics}, the event topics of the former smqtt.
     *
     * @return this
     */
    public BrokerComposition eventTopics() {
        EventTopics events = new EventTopics();
        return add(more -> more.observer(events).module(events));
    }

    /**
     * Adds a step that changes the builder after all modules have been added.
     *
     * @param more called by {@link #start}; may block
     * @return this
     */
    public BrokerComposition finish(Consumer<BrokerBuilder> more) {
        last = last.andThen(more);
        return this;
    }

    /**
     * A module of the started broker.
     *
     * @param type the class
     * @param <M> the class
     * @return null if the broker has no such module
     */
    public <M extends BrokerModule> @Nullable M module(Class<M> type) {
        return builder.modules.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElse(null);
    }

    /**
     * Reads all files that a start reads, and checks the configuration; no port is bound. Blocks.
     *
     * @throws ConfigurationException if a start would fail, with all problems that were found
     */
    public void check() {
        List<String> problems = new ArrayList<>();
        BrokerBuilder.collect(problems, builder::check);
        wanted().forEach(provider -> BrokerBuilder.collect(problems, () -> provider.check(config, parts)));
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems.stream().distinct().toList());
        }
    }

    /**
     * Starts the broker and waits until its listeners are bound. Blocks. On failure the store is closed and no port is bound.
     *
     * @return the running broker
     * @throws ConfigurationException if a module is missing, or the configuration cannot be used
     * @throws io.smqtt.transport.BindFailedException if a port cannot be bound
     */
    public Broker start() {
        requireModules();
        builder.store(store);
        try {
            addAll();
            Broker broker = builder.start().block();
            if (broker == null) {
                throw new IllegalStateException("the broker did not start");
            }
            return broker;
        } catch (RuntimeException | Error e) {
            BrokerStore opened = builder.store;
            if (opened != null) {
                opened.close();
            }
            throw e;
        }
    }

    /** Rejects a configuration whose required modules are missing. */
    private void requireModules() {
        Map<String, String> missing = new TreeMap<>(config.requiredModules());
        if (store != null) {
            missing.keySet().removeAll(Set.of("storage.kind", "storage.replicas"));
        }
        providers.forEach(provider -> missing.values().remove(provider.name()));
        if (!missing.isEmpty()) {
            throw new ConfigurationException(missing.entrySet().stream()
                    .map(entry -> entry.getKey() + " needs the module " + entry.getValue())
                    .toList());
        }
    }

    /** Adds all modules. If one cannot be created or added, the others are released. */
    private void addAll() {
        List<Consumer<BrokerBuilder>> created = new ArrayList<>();
        try {
            for (Consumer<BrokerBuilder> addition : additions(created)) {
                created.remove(addition);
                addition.accept(builder);
            }
        } catch (RuntimeException | Error e) {
            created.forEach(addition -> release(addition, e));
            Shutdown.stop(builder.modules).subscribe(); // the caller may be on a thread that must not block
            throw e;
        }
    }

    private static void release(Consumer<BrokerBuilder> addition, Throwable failure) {
        if (addition instanceof AutoCloseable module) {
            try {
                module.close();
            } catch (Exception e) {
                failure.addSuppressed(e);
            }
        }
    }

    /**
     * Creates all modules before the first one is added. Access and bridges read their secrets when they are added, which is after a migration has written
     * them.
     *
     * @param created gets those of modules, also if a later one cannot be created
     */
    private List<Consumer<BrokerBuilder>> additions(List<Consumer<BrokerBuilder>> created) {
        List<Consumer<BrokerBuilder>> additions = new ArrayList<>();
        List<Consumer<BrokerBuilder>> earlier = new ArrayList<>();
        List<Consumer<BrokerBuilder>> later = new ArrayList<>();
        for (ModuleProvider provider : wanted()) {
            boolean isStore = provider.stage() == ModuleProvider.Stage.STORE;
            boolean afterHost = provider.stage().compareTo(ModuleProvider.Stage.HOST) > 0;
            Consumer<BrokerBuilder> addition = provider.create(config, parts);
            created.add(addition);
            (isStore ? additions : afterHost ? later : earlier).add(addition);
        }
        additions.add(unchanged -> prepare.run());
        additions.addAll(earlier);
        additions.add(host);
        additions.addAll(later);
        additions.add(last);
        return additions;
    }

    private List<ModuleProvider> wanted() {
        return providers.stream()
                .filter(provider -> program || !provider.isForProgramsOnly())
                .filter(provider -> store == null || provider.stage() != ModuleProvider.Stage.STORE)
                .filter(provider -> provider.isWanted(config))
                .toList();
    }
}
