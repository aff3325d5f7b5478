// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.spi.AccessDecision;
import io.smqtt.thread.AnyThread;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** An HTTP server as EMQX asks it. */
@AnyThread
final class EmqxBackend implements AccessBackend {

    private final HttpSender sender;
    private final @Nullable HttpQuestion users;
    private final @Nullable HttpQuestion topics;

    EmqxBackend(HttpSender sender, @Nullable HttpQuestion users, @Nullable HttpQuestion topics) {
        this.sender = sender;
        this.users = users;
        this.topics = topics;
    }

    @Override
    public Set<Ability> abilities() {
        Set<Ability> abilities = EnumSet.noneOf(Ability.class);
        if (users != null) {
            abilities.add(Ability.USERS);
        }
        if (topics != null) {
            abilities.add(Ability.TOPICS);
        }
        return abilities;
    }

    @Override
    public Mono<BackendAnswer> authenticate(BackendRequest request) {
        if (users == null) {
            return Mono.just(BackendAnswer.NOT_MINE);
        }
        boolean isNoText = request.password() != null && request.passwordText() == null;
        if (isNoText || users.leavesPath(request)) { // what no request can stand for
            return Mono.just(BackendAnswer.DENY);
        }
        return sender.send(users.fill(request)).map(answer -> EmqxFormat.user(answer, Instant.now()));
    }

    @Override
    public Mono<AccessDecision> authorize(TopicRequest request) {
        if (topics == null) {
            return AccessDecision.CONTINUE.now();
        }
        return topics.leavesPath(request)
                ? AccessDecision.DENY.now()
                : sender.send(topics.fill(request)).map(EmqxFormat::topic);
    }

    @Override
    public void close() {
        sender.close();
    }
}
