// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import io.smqtt.admin.account.Caller;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** The origin of a change: the name and the kind of its caller. */
public final class Origins {

    private Origins() {}

    /**
     * The origin of an object that a request changes.
     *
     * @param request the request
     * @return for instance {@code user alice}
     */
    public static String of(ApiRequest request) {
        Caller caller = request.known();
        return switch (caller.kind()) {
            case TOKEN -> "token";
            case USER -> "user " + caller.name();
            case API_KEY -> "api key " + caller.name();
            case APPLICATION -> "application user " + caller.name();
        };
    }

    /** Refuses API keys: one that was stolen cannot make another one, or a user. */
    static void requirePerson(ApiRequest request) {
        if (request.known().kind() == Caller.Kind.API_KEY) {
            throw new Problem(403, "API_KEY_NOT_ALLOW", "an API key may not do this; log in").exception();
        }
    }

    /** The address of the caller. */
    static @Nullable InetAddress address(ApiRequest request) {
        return request.address().getAddress();
    }
}
