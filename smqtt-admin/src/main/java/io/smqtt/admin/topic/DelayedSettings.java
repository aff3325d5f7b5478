// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.BrokerModule;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectFormat;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.config.DelayedConfig;
import io.smqtt.session.DelayedMessages;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The settings of delayed publish that operators change: replicated to all nodes, stored, and applied by this node to the keys that its configuration
 * leaves at their defaults. The other keys are read-only.
 */
@AnyThread
public final class DelayedSettings implements BrokerModule {

    private static final String ID = "all";
    private static final ObjectLimits LIMITS = new ObjectLimits(1, 4 << 10, 4 << 10);
    private static final long MOST_MESSAGES = 100_000_000;

    private final ObjectKind<Map<Setting, Long>> kind;
    private final Predicate<String> fixed;
    private volatile @Nullable Core core;

    /** A key that can be changed. A boolean is 0 or 1. */
    private enum Setting {
        ENABLED("enable", "delayed.enabled", 0, 1),
        MESSAGES("max_delayed_messages", "delayed.max-messages", 1, MOST_MESSAGES),
        BYTES("max_delayed_bytes", "delayed.max-bytes", 1 << 10, 1L << 50),
        PER_CLIENT("max_delayed_messages_per_client", "delayed.max-messages-per-client", 1, MOST_MESSAGES),
        DELAY("max_delay", "delayed.max-delay", 1, 42_949_669);

        private final String field;
        private final String key;
        private final long least;
        private final long most;

        Setting(String field, String key, long least, long most) {
            this.field = field;
            this.key = key;
            this.least = least;
            this.most = most;
        }

        long of(DelayedConfig config) {
            return switch (this) {
                case ENABLED -> config.enabled() ? 1 : 0;
                case MESSAGES -> config.maxMessages();
                case BYTES -> config.maxBytes();
                case PER_CLIENT -> config.maxMessagesPerClient();
                case DELAY -> config.maxDelay().toSeconds();
            };
        }

        long read(JsonFields fields) {
            return this == ENABLED ? (fields.flag(field) ? 1 : 0) : fields.number(field, least, most);
        }

        Object shown(long value) {
            return this == ENABLED ? (Object) (value == 1) : (Object) value;
        }
    }

    private static final ObjectFormat<Map<Setting, Long>> FORMAT = new ObjectFormat<>() {

        @Override
        public Map<Setting, Long> read(String id, JsonFields fields) {
            Map<Setting, Long> all = new LinkedHashMap<>();
            for (Setting setting : Setting.values()) {
                if (!fields.node().path(setting.field).isMissingNode()
                        && !fields.node().path(setting.field).isNull()) {
                    all.put(setting, setting.read(fields));
                }
            }
            return Map.copyOf(all);
        }

        @Override
        public Map<String, Object> write(Map<Setting, Long> value) {
            Map<String, Object> all = new LinkedHashMap<>();
            for (Setting setting : Setting.values()) {
                Long one = value.get(setting);
                if (one != null) {
                    all.put(setting.field, setting.shown(one));
                }
            }
            return all;
        }
    };

    /**
     * Creates the settings of a node.
     *
     * @param objects keeps what operators set
     * @param fixed tells whether the configuration of this node sets a key
     */
    public DelayedSettings(LiveObjects objects, Predicate<String> fixed) {
        this.fixed = fixed;
        kind = objects.kind("delayed", FORMAT, LIMITS);
    }

    @Override
    public Mono<Void> start(Core started) {
        return Mono.fromRunnable(() -> {
            core = started;
            apply(started, changed());
            kind.watch(new ObjectWatcher<>() {

                @Override
                public void changed(LiveObject<Map<Setting, Long>> object) {
                    apply(started, object.value());
                }

                @Override
                public void removed(String id) {
                    apply(started, Map.of());
                }
            });
        });
    }

    @Override
    public Mono<Void> stop() {
        return Mono.empty();
    }

    private Map<Setting, Long> changed() {
        LiveObject<Map<Setting, Long>> object = kind.get(ID);
        return object == null ? Map.of() : object.value();
    }

    private void apply(Core started, Map<Setting, Long> changed) {
        DelayedConfig config = started.config().delayed();
        Map<Setting, Long> all = new LinkedHashMap<>();
        for (Setting setting : Setting.values()) {
            long configured = setting.of(config);
            all.put(
                    setting,
                    fixed.test(setting.key)
                            ? configured
                            : Objects.requireNonNullElse(changed.get(setting), configured));
        }
        messages(started)
                .limits(new DelayedConfig(
                        value(all, Setting.ENABLED) == 1,
                        (int) value(all, Setting.MESSAGES),
                        value(all, Setting.BYTES),
                        (int) value(all, Setting.PER_CLIENT),
                        Duration.ofSeconds(value(all, Setting.DELAY))));
    }

    private static long value(Map<Setting, Long> all, Setting setting) {
        return Objects.requireNonNull(all.get(setting));
    }

    private static DelayedMessages messages(Core started) {
        return Objects.requireNonNull(started.sessions().delayed(), "set before the broker starts");
    }

    /** The settings in force on this node. */
    Map<String, Object> fields() {
        DelayedConfig present = messages(Objects.requireNonNull(core, "the broker has not started"))
                .limits();
        Map<String, Object> all = new LinkedHashMap<>();
        for (Setting setting : Setting.values()) {
            all.put(setting.field, setting.shown(setting.of(present)));
        }
        return all;
    }

    /**
     * Changes settings, on all nodes. Fields that are missing stay as they are; null is the value of the configuration.
     *
     * @param fields the fields to change
     * @param origin who makes the change
     */
    Mono<Void> change(JsonFields fields, String origin) {
        Map<Setting, Long> wanted = new LinkedHashMap<>(changed());
        for (Setting setting : Setting.values()) {
            if (fields.has(setting.field)) {
                boolean reset = fields.node().path(setting.field).isNull();
                Long value = reset ? null : (Long) setting.read(fields);
                requireChangeable(setting, value);
                if (value == null) {
                    wanted.remove(setting);
                } else {
                    wanted.put(setting, value);
                }
            }
        }
        return kind.put(ID, Map.copyOf(wanted), Expected.ANYTHING, origin).then();
    }

    private void requireChangeable(Setting setting, @Nullable Long value) {
        Core started = core;
        boolean changes = value != null
                && started != null
                && value != setting.of(started.config().delayed());
        if (changes && fixed.test(setting.key)) {
            throw new Problem(403, "READ_ONLY", setting.key + " is in the configuration, and cannot be changed here")
                    .exception();
        }
    }
}
