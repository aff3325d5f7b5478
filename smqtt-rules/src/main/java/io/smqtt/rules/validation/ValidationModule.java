// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ValidationConfig.FailureAction;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Interception;
import io.smqtt.spi.PayloadChecks;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The checks of payloads of a broker, as an interceptor of messages. Messages of other topics are forwarded at once; a check runs on a thread of its own,
 * and its client is not read from until then.
 */
@AnyThread
public final class ValidationModule implements BrokerModule, PublishInterceptor {

    private static final Logger LOG = LoggerFactory.getLogger(ValidationModule.class);
    private static final int MOST_THREADS = 4;
    private static final int MOST_WAITING = 10_000;
    private static final String NOT_VALID = "the payload is not valid";

    private final LiveChecks checks;
    private volatile @Nullable Scheduler threads;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private volatile @Nullable Core core;

    private ValidationModule(LiveChecks checks) {
        this.checks = checks;
    }

    /**
     * Reads the schemas. Blocks.
     *
     * @param config the configuration of the broker
     * @return for one broker, as a module and as an interceptor
     * @throws ConfigurationException if a schema or a statement cannot be used, with all problems
     */
    public static ValidationModule of(BrokerConfig config) {
        LiveChecks checks = new LiveChecks();
        List<String> problems = new ArrayList<>();
        config.validations().forEach((name, validation) -> {
            try {
                checks.add(new PayloadCheck(name, validation, checks));
            } catch (ConfigurationException e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        });
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return new ValidationModule(checks);
    }

    /** The threads of the checks, which begin with the first message that is checked. */
    private Scheduler threads() {
        Scheduler running = threads;
        return running == null ? begin() : running;
    }

    private synchronized Scheduler begin() {
        Scheduler running = threads;
        if (running == null) {
            running = Schedulers.newBoundedElastic(
                    Math.max(1, Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors() / 2)),
                    MOST_WAITING,
                    "smqtt-validation",
                    60,
                    true);
            threads = running;
        }
        return running;
    }

    @Override
    public Mono<Void> start(Core started) {
        core = started;
        return Mono.empty();
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            core = null;
            Scheduler running = threads;
            if (running != null) {
                running.dispose();
            }
        });
    }

    @Override
    public PayloadChecks payloadChecks() {
        return checks;
    }

    @Override
    public boolean isIdle() {
        return checks.all().isEmpty();
    }

    @Override
    public String configurationKey() {
        return "validations";
    }

    @Override
    public ReloadResult reload() {
        List<String> read = new ArrayList<>();
        List<String> failed = new ArrayList<>();
        for (PayloadCheck check : checks.fixed()) {
            try {
                check.reload();
                Path folder = check.config().folder();
                if (folder != null) {
                    check.config()
                            .schemas()
                            .forEach(file -> read.add(folder.resolve(file).toString()));
                }
            } catch (ConfigurationException e) {
                failed.add(String.valueOf(e.getMessage()));
            }
        }
        return new ReloadResult(read, failed);
    }

    @Override
    public Mono<Interception<ApplicationMessage>> intercept(ClientIdentity client, ApplicationMessage message) {
        return next(checks.all(), 0, client, message);
    }

    private Mono<Interception<ApplicationMessage>> next(
            List<PayloadCheck> all, int from, ClientIdentity client, ApplicationMessage message) {
        for (int i = from; i < all.size(); i++) {
            PayloadCheck check = all.get(i);
            if (check.isFor(message.topic())) {
                int following = i + 1;
                return problem(check, client, message)
                        .flatMap(problem -> problem.isEmpty() || isIgnored(check, client, message, problem)
                                ? next(all, following, client, message)
                                : refused(check, client, message, problem));
            }
        }
        return Interception.forward(message).now();
    }

    /** Why a payload is not valid; empty if it is. */
    private Mono<String> problem(PayloadCheck check, ClientIdentity client, ApplicationMessage message) {
        return Mono.fromCallable(() -> {
                    String problem = check.problem(client, message);
                    return problem == null ? "" : problem;
                })
                .subscribeOn(threads())
                .timeout(check.config().timeout())
                .doOnNext(problem -> report(check, problem.isEmpty() ? "passed" : "failed"))
                .onErrorResume(TimeoutException.class, error -> failed(check, "timeout"))
                .onErrorResume(RejectedExecutionException.class, error -> failed(check, "overload"));
    }

    private Mono<String> failed(PayloadCheck check, String outcome) {
        report(check, outcome);
        return Mono.just(outcome);
    }

    private void report(PayloadCheck check, String outcome) {
        Core running = core;
        if (running != null) {
            running.observer().payloadValidated(check.name(), outcome);
        }
    }

    private boolean isIgnored(PayloadCheck check, ClientIdentity client, ApplicationMessage message, String problem) {
        if (check.config().failureAction() != FailureAction.IGNORE) {
            return false;
        }
        note(check, client, message, problem);
        return true;
    }

    private void note(PayloadCheck check, ClientIdentity client, ApplicationMessage message, String problem) {
        if (check.config().logFailures() && lines.allows(check.name())) {
            LOG.warn(
                    "validation {}: a message of {} to {} is not valid: {}",
                    check.name(),
                    LogText.escape(client.clientId()),
                    LogText.escape(message.topic().value()),
                    LogText.escape(problem));
        }
        Core running = core;
        String other = check.config().redirectTopic();
        if (!other.isEmpty() && running != null) {
            running.broker()
                    .publish(message.toBuilder().topic(other).retain(false).build())
                    .subscribe(result -> {}, error -> LOG.debug("a message was not redirected", error));
        }
    }

    private Mono<Interception<ApplicationMessage>> refused(
            PayloadCheck check, ClientIdentity client, ApplicationMessage message, String problem) {
        note(check, client, message, problem);
        Core running = core;
        if (check.config().failureAction() == FailureAction.DISCONNECT && running != null) {
            running.broker()
                    .disconnect(client.clientId())
                    .subscribe(ended -> {}, error -> LOG.debug("a client was not disconnected", error));
        }
        return Interception.<ApplicationMessage>stop(ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR, NOT_VALID)
                .now();
    }
}
