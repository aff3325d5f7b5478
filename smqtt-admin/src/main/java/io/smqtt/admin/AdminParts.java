// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.admin.account.AccountCallers;
import io.smqtt.admin.account.Accounts;
import io.smqtt.admin.account.Callers;
import io.smqtt.admin.api.Api;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiCall;
import io.smqtt.admin.api.ApiObserver;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.ban.BanDetection;
import io.smqtt.admin.ban.BanPart;
import io.smqtt.admin.ban.BanRoutes;
import io.smqtt.admin.broker.AlarmRoutes;
import io.smqtt.admin.broker.AnswerCacheRoutes;
import io.smqtt.admin.broker.BridgeRoutes;
import io.smqtt.admin.broker.ClientRoutes;
import io.smqtt.admin.broker.DelayedRoutes;
import io.smqtt.admin.broker.ListenerRoutes;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.admin.broker.NodeRoutes;
import io.smqtt.admin.broker.OpenApiRoutes;
import io.smqtt.admin.broker.PlaceRoutes;
import io.smqtt.admin.broker.PublishRoutes;
import io.smqtt.admin.broker.ReloadRoutes;
import io.smqtt.admin.broker.RetainedRoutes;
import io.smqtt.admin.broker.RoutingRoutes;
import io.smqtt.admin.broker.SharedGroupRoutes;
import io.smqtt.admin.broker.StatusRoutes;
import io.smqtt.admin.log.LogLevelChanges;
import io.smqtt.admin.log.LoggerRoutes;
import io.smqtt.admin.monitor.Monitor;
import io.smqtt.admin.monitor.MonitorRoutes;
import io.smqtt.admin.object.ObjectFile;
import io.smqtt.admin.rule.ActionRoutes;
import io.smqtt.admin.rule.RuleObjects;
import io.smqtt.admin.rule.RuleRoutes;
import io.smqtt.admin.rule.SourceObjects;
import io.smqtt.admin.rule.SourceRoutes;
import io.smqtt.admin.rule.SourceTypeRoutes;
import io.smqtt.admin.schema.SchemaRegistry;
import io.smqtt.admin.schema.SchemaRoutes;
import io.smqtt.admin.security.Audit;
import io.smqtt.admin.security.AuditRoutes;
import io.smqtt.admin.security.AuditSettings;
import io.smqtt.admin.security.ClusterLogins;
import io.smqtt.admin.security.ConfigRoutes;
import io.smqtt.admin.security.DataRoutes;
import io.smqtt.admin.security.KeyRoutes;
import io.smqtt.admin.security.LoginRoutes;
import io.smqtt.admin.security.UserRoutes;
import io.smqtt.admin.topic.DelayedSettingRoutes;
import io.smqtt.admin.topic.DelayedSettings;
import io.smqtt.admin.topic.TopicMetricRoutes;
import io.smqtt.admin.topic.TopicMetrics;
import io.smqtt.admin.topic.TopicRuleObjects;
import io.smqtt.admin.topic.TopicRuleRoutes;
import io.smqtt.admin.trace.NodeTraces;
import io.smqtt.admin.trace.TraceRoutes;
import io.smqtt.config.AutomaticBansConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.StorageConfig;
import io.smqtt.spi.Bans;
import io.smqtt.spi.Observer;
import io.smqtt.spi.Ticker;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The parts of the management port: the one place that knows all of them. A part that has a life of its own is a module, started
 * in the order of the list before the port is bound, and stopped after it is closed.
 *
 * @param modules what starts and stops
 * @param observers what sees the events of the broker
 * @param mounted what answers at paths of its own
 * @param page the dashboard; null if it is not served
 * @param audit records what has changed
 * @param known whether an Authorization header is that of a known caller
 */
record AdminParts(
        List<BrokerModule> modules,
        List<Observer> observers,
        List<Api> mounted,
        @Nullable PageServer page,
        Audit audit,
        Predicate<@Nullable String> known) {

    private static final String AUDIT_FILE = "audit.jsonl";
    private static final String TRACES = "traces";
    private static final Map<String, String> DEFAULTS = ConfigSchema.values(BrokerConfig.defaults());

    /**
     * Creates the parts of one broker.
     *
     * @param base the path above all others, without a slash at its end; empty for the root
     * @param authentication makes what authenticates requests
     * @param configuration what {@code /configs} shows
     * @param hasOwnLogin whether people log in at the page, so that they need a first password
     */
    static AdminParts of(
            BrokerConfig config,
            BrokerView view,
            String base,
            Function<Accounts, Callers> authentication,
            Supplier<List<ConfigRoutes.Value>> configuration,
            boolean hasOwnLogin) {
        boolean hasPage = config.management().dashboard();
        AccountsPart people = new AccountsPart(config.management(), hasPage && hasOwnLogin);
        Accounts accounts = people.accounts();
        Audit audit = new Audit(audit(config), view::nodeName, InstantSource.system());
        NodeCalls calls = new NodeCalls(view);
        ClusterLogins logins = new ClusterLogins(view, accounts, calls);
        Callers callers = logins.around(authentication.apply(accounts));
        Monitor monitor = new Monitor();
        BanPart bans = new BanPart(
                people.objects(),
                InstantSource.system(),
                config.management().bansFile(),
                (cause, ban) -> audit.bannedByBroker(cause, ban.as().text(), ban.who(), ban.until()));
        AutomaticBansConfig automatic = config.access().bans();
        List<Observer> watchers =
                automatic.isOn() ? List.of(new BanDetection(automatic, bans, Ticker.SYSTEM)) : List.of();
        NodeTraces traces =
                new NodeTraces(people.objects(), traceFolder(config), view::nodeName, InstantSource.system());
        TopicMetrics topics = new TopicMetrics(people.objects());
        TopicRuleObjects topicRules = new TopicRuleObjects(people.objects());
        DelayedSettings delayed = new DelayedSettings(people.objects(), key -> isGiven(configuration, key));
        SchemaRegistry schemas = new SchemaRegistry(people.objects());
        RuleObjects rules = new RuleObjects(people.objects());
        SourceObjects sources = new SourceObjects(people.objects());
        LogLevelChanges levels = new LogLevelChanges();
        NodeRoutes nodes = new NodeRoutes(view, calls);
        AlarmRoutes alarms = new AlarmRoutes(view, calls);
        List<RouteGroup> groups = List.of(
                new StatusRoutes(view),
                new MonitorRoutes(monitor, calls, Map.of("nodes", nodes::list, "alarms", alarms::active)),
                new OpenApiRoutes(),
                new ClientRoutes(view, calls),
                new RoutingRoutes(view, calls),
                new SharedGroupRoutes(view, calls),
                new PublishRoutes(view),
                new RetainedRoutes(view),
                new DelayedRoutes(view, calls),
                nodes,
                new PlaceRoutes(view),
                new ListenerRoutes(view, calls),
                new BridgeRoutes(view, calls),
                new RuleRoutes(view, calls, rules),
                new ActionRoutes(view, rules),
                new SourceRoutes(view, calls, sources),
                new SourceTypeRoutes(view, sources),
                alarms,
                new BanRoutes(bans),
                new TraceRoutes(traces, calls),
                new TopicMetricRoutes(topics, calls, InstantSource.system()),
                new TopicRuleRoutes(topicRules),
                new DelayedSettingRoutes(delayed),
                new SchemaRoutes(schemas),
                new LoggerRoutes(view, calls, levels, InstantSource.system()),
                new ReloadRoutes(view),
                new AnswerCacheRoutes(view, calls),
                new LoginRoutes(accounts, callers, logins, view.version()),
                new UserRoutes(accounts),
                new KeyRoutes(accounts),
                new AuditRoutes(audit, calls),
                new ConfigRoutes(configuration),
                new DataRoutes(new ObjectFile(people.objects())));
        List<ApiObserver> observers = List.of(audit);
        return new AdminParts(
                List.of(
                        calls,
                        people,
                        bans,
                        audit,
                        monitor,
                        traces,
                        topics,
                        topicRules,
                        delayed,
                        schemas,
                        rules,
                        sources,
                        levels),
                watchers,
                List.of(new Api(List.of(base + "/api/v5", base + "/api/v1"), callers, groups, observers)),
                hasPage ? new PageServer(base, config, view) : null,
                audit,
                callers::isKnown);
    }

    /** Whether the configuration of this node sets a key. What an application has set has no origin: it is set if it is not the default. */
    private static boolean isGiven(Supplier<List<ConfigRoutes.Value>> configuration, String key) {
        return configuration.get().stream()
                .filter(value -> value.key().equals(key))
                .anyMatch(value -> !value.origin().equals("default")
                        && !(value.origin().equals("program") && value.value().equals(DEFAULTS.get(key))));
    }

    /** The callers at the management port. */
    static Callers callers(BrokerConfig config, ManagementToken token, Accounts accounts) {
        return new AccountCallers(accounts, token::accepts, hosts(config), !isStrict(config));
    }

    /**
     * Answers a request for a path of these parts.
     *
     * @return one answer; null if the path is none of them
     */
    @Nullable
    Mono<ApiAnswer> answer(ApiCall call) {
        if (page != null && page.serves(call.path())) {
            return Mono.fromSupplier(() -> page.answer(call));
        }
        for (Api api : mounted) {
            if (api.serves(call.path())) {
                return api.answer(call);
            }
        }
        return null;
    }

    /** The bans of all parts. */
    Bans bans() {
        return modules.stream().map(BrokerModule::bans).reduce(Bans.NONE, Bans::or);
    }

    /** Reads the files of all parts again. Blocks. */
    ReloadResult reload() {
        List<String> read = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (BrokerModule part : modules) {
            ReloadResult result = part.reload();
            read.addAll(result.reloaded());
            problems.addAll(result.failed());
        }
        return new ReloadResult(read, problems);
    }

    /** The names of this broker as Host. */
    private static List<String> hosts(BrokerConfig config) {
        List<String> names = new ArrayList<>(config.management().allowedHosts());
        names.add(config.management().host());
        return names;
    }

    /** Whether other names are refused: on loopback, where none is expected, and if names are listed. */
    private static boolean isStrict(BrokerConfig config) {
        return !config.management().allowedHosts().isEmpty()
                || ManagementToken.isLoopback(config.management().host());
    }

    /** The folder of the traces; null if the broker has no data directory. */
    private static @Nullable Path traceFolder(BrokerConfig config) {
        StorageConfig storage = config.storage();
        return storage.kind() == StorageConfig.Kind.MEMORY
                ? null
                : storage.dir().resolve(TRACES);
    }

    private static AuditSettings audit(BrokerConfig config) {
        ManagementConfig management = config.management();
        StorageConfig storage = config.storage();
        Path file = management.auditFile();
        if (file == null && storage.kind() != StorageConfig.Kind.MEMORY) {
            file = storage.dir().resolve(AUDIT_FILE);
        }
        return new AuditSettings(file, management.auditMaxBytes(), management.auditFiles());
    }
}
