// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.admin.account.AccountCallers;
import io.smqtt.admin.account.ApplicationCallers;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiCall;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.security.ConfigRoutes;
import io.smqtt.config.BrokerConfig;
import io.smqtt.spi.Bans;
import io.smqtt.spi.Observer;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The API and the dashboard of one broker, for the HTTP server of an application. They are the same as at the management port, below a
 * path of the application.
 */
@AnyThread
public final class EmbeddedManagement implements BrokerModule {

    /** Live events that a slow reader may leave waiting. */
    private static final int WAITING_EVENTS = 32;

    private final AdminParts parts;
    private final Sinks.Empty<Void> end = Sinks.empty();

    private EmbeddedManagement(AdminParts parts) {
        this.parts = parts;
    }

    /**
     * The settings of the API within an application.
     *
     * @param path the path within the application, such as {@code /smqtt}; begins with a slash and does not end with one
     * @param authorities the authorities of users of the application that give a role
     * @param configuration what {@code /configs} shows
     */
    public record Settings(String path, Map<Role, Set<String>> authorities, List<ConfigRoutes.Value> configuration) {

        /** Copies the collections. */
        public Settings {
            authorities = Map.copyOf(authorities);
            configuration = List.copyOf(configuration);
        }
    }

    /**
     * Creates the module.
     *
     * @param config the configuration of the broker
     * @param view the view of the same broker: a module that is started before this one
     * @param settings what the application says
     * @return for one broker
     */
    public static EmbeddedManagement create(BrokerConfig config, BrokerView view, Settings settings) {
        List<String> names = config.management().allowedHosts();
        boolean hasOwnLogin = settings.authorities().values().stream().allMatch(Set::isEmpty);
        return new EmbeddedManagement(AdminParts.of(
                config,
                view,
                settings.path(),
                accounts -> new ApplicationCallers(
                        new AccountCallers(accounts, token -> false, names, names.isEmpty()), settings.authorities()),
                settings::configuration,
                hasOwnLogin));
    }

    /**
     * Answers a request.
     *
     * @param call the request; its path is that within the application
     * @return one answer, whatever happens. A stream of it ends when the broker stops
     */
    public Mono<ApiAnswer> answer(ApiCall call) {
        Mono<ApiAnswer> answer = parts.answer(call);
        return answer == null
                ? Mono.just(Problem.notFound("there is no such path").answer())
                : answer.map(this::untilTheEnd);
    }

    private ApiAnswer untilTheEnd(ApiAnswer answer) {
        return answer instanceof ApiAnswer.Stream stream && stream.live()
                ? stream.of(stream.parts().onBackpressureBuffer(WAITING_EVENTS).takeUntilOther(end.asMono()))
                : answer;
    }

    /**
     * Returns what has to see the events of the broker.
     *
     * @return for {@link io.smqtt.BrokerBuilder#observer}; empty if nothing has
     */
    public List<Observer> observers() {
        return parts.observers();
    }

    @Override
    public Bans bans() {
        return parts.bans();
    }

    @Override
    public Mono<Void> start(Core core) {
        return Flux.fromIterable(parts.modules())
                .concatMap(part -> part.start(core))
                .then();
    }

    @Override
    public void listening() {
        parts.modules().forEach(BrokerModule::listening);
    }

    @Override
    public void draining() {
        end.tryEmitEmpty();
        parts.modules().forEach(BrokerModule::draining);
    }

    @Override
    public ReloadResult reload() {
        return parts.reload();
    }

    @Override
    public Mono<Void> stop() {
        return Flux.fromIterable(parts.modules())
                .concatMap(BrokerModule::stop)
                .then(Mono.fromRunnable(end::tryEmitEmpty));
    }
}
