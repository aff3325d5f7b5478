// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.netty.util.NetUtil;
import io.smqtt.admin.EmbeddedManagement;
import io.smqtt.admin.account.ApplicationUser;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiCall;
import io.smqtt.admin.api.Problem;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;

/** Answers requests to the API and the dashboard within the application, by the broker that runs at the time. */
final class EmbeddedRequests {

    /** The answer to {@code GET /login}: name and value of the header that changes need. */
    static final String CSRF = "Smqtt-Csrf";

    private static final boolean SECURITY = isPresent("org.springframework.security.core.Authentication");
    private static final boolean SECURITY_WEB = isPresent("org.springframework.security.web.csrf.CsrfToken");
    private static final InetSocketAddress UNKNOWN = InetSocketAddress.createUnresolved("", 0);

    private final BrokerLifecycle lifecycle;
    private final String path;

    /**
     * Creates it.
     *
     * @param path the path within the application
     */
    EmbeddedRequests(BrokerLifecycle lifecycle, String path) {
        this.lifecycle = lifecycle;
        this.path = path;
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, EmbeddedRequests.class.getClassLoader());
    }

    /** {@return whether requests can have a CSRF token of Spring Security} */
    static boolean hasCsrf() {
        return SECURITY_WEB;
    }

    /** Answers a request in the time of {@link io.smqtt.admin.api.Api}; streams have no limit of time, and end with the broker. */
    Mono<ApiAnswer> answer(ApiCall call) {
        EmbeddedManagement management = lifecycle.management();
        return management == null
                ? Mono.just(
                        Problem.unavailable("the broker does not run").answer().with("Retry-After", "1"))
                : management.answer(call);
    }

    /** Tells whether a page asks who its user is, and so needs to know what its changes have to send. */
    boolean asksForLogin(ApiCall call) {
        return call.method().equals("GET")
                && call.path().startsWith(path + "/api/")
                && call.path().endsWith("/login");
    }

    /**
     * Returns the user whom the application has authenticated.
     *
     * @param principal the user; null if there is none
     * @param session finds an attribute of the session of the request by its name; null without one. Fails when the session has ended
     * @return the user; null if there is none
     */
    static @Nullable ApplicationUser user(@Nullable Principal principal, Function<String, @Nullable Object> session) {
        if (principal == null) {
            return null;
        }
        return SECURITY
                ? SecurityUsers.of(principal, session)
                : new ApplicationUser(String.valueOf(principal.getName()), Set.of(), () -> true);
    }

    /** The address of a connection; never looks up a name. */
    static InetSocketAddress address(@Nullable String host, int port) {
        InetAddress address = host == null ? null : NetUtil.createInetAddressFromIpAddressString(host);
        return address == null ? UNKNOWN : new InetSocketAddress(address, Math.max(0, port));
    }
}
