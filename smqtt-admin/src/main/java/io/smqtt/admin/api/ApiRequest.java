// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Credentials;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request to a route. Immutable. What is missing or cannot be used becomes a {@link ProblemException} of status 400.
 *
 * @param route the route
 * @param caller the caller, who has the role; null where no login is needed
 * @param credentials what the request says about its sender
 * @param path the parameters of the path, decoded
 * @param query the parameters of the query, decoded
 * @param body the body; empty if there is none; not to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // requests are never compared
public record ApiRequest(
        Route route,
        @Nullable Caller caller,
        Credentials credentials,
        Map<String, String> path,
        Map<String, List<String>> query,
        byte[] body) {

    /** Copies the maps. */
    public ApiRequest {
        path = Map.copyOf(path);
        query = Map.copyOf(query);
    }

    /**
     * Returns the address of the connection.
     *
     * @return the address; unresolved if it is not known
     */
    public InetSocketAddress address() {
        return credentials.address();
    }

    /**
     * Returns the caller of a route that needs a role.
     *
     * @return the caller
     */
    public Caller known() {
        if (caller == null) {
            throw new IllegalStateException("the route " + route.template() + " needs no login");
        }
        return caller;
    }

    /**
     * Returns a parameter of the path.
     *
     * @param name its name in the template
     * @return the decoded segment
     */
    public String path(String name) {
        String value = path.get(name);
        if (value == null) {
            throw new IllegalArgumentException("the template " + route.template() + " has no " + name);
        }
        return value;
    }

    /**
     * Returns a parameter of the query.
     *
     * @param name its name
     * @return the first value; null if there is none
     */
    public @Nullable String query(String name) {
        List<String> values = query.get(name);
        return values == null ? null : values.get(0);
    }

    /**
     * Returns all values of a parameter of the query.
     *
     * @param name its name
     * @return the values; none if there is no such parameter
     */
    public List<String> queries(String name) {
        return query.getOrDefault(name, List.of());
    }

    /**
     * Returns an integer of the query.
     *
     * @param name its name
     * @param missing what is returned if there is none
     * @param least the least that it may be
     * @param most the most that it may be
     * @return the integer
     */
    public long number(String name, long missing, long least, long most) {
        String text = query(name);
        if (text == null) {
            return missing;
        }
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw wrong(name, least, most);
        }
        throw wrong(name, least, most);
    }

    private static ProblemException wrong(String name, long least, long most) {
        return bad("the parameter " + name + " must be an integer, " + least + " to " + most);
    }

    /**
     * Returns a boolean of the query.
     *
     * @param name its name
     * @return the boolean; null if there is none
     */
    public @Nullable Boolean flag(String name) {
        String text = query(name);
        if (text == null) {
            return null;
        }
        if (!text.equals("true") && !text.equals("false")) {
            throw bad("the parameter " + name + " must be true or false");
        }
        return text.equals("true");
    }

    /**
     * Reads the body as one JSON object.
     *
     * @return its fields; a field that is missing or of another type becomes status 400
     */
    public JsonFields fields() {
        return JsonFields.parse(text());
    }

    /**
     * Reads the body as a JSON array of objects.
     *
     * @param most maximum number of objects
     * @return their fields
     */
    public List<JsonFields> array(int most) {
        List<JsonFields> all = JsonFields.parseArray(text());
        if (all.size() > most) {
            throw bad("the body has more than " + most + " elements");
        }
        return all;
    }

    /**
     * Reads the body as a JSON array of texts.
     *
     * @param most maximum number of texts
     * @return the texts
     */
    public List<String> texts(int most) {
        List<String> all = JsonFields.parseTexts(text());
        if (all.size() > most) {
            throw bad("the body has more than " + most + " elements");
        }
        return all;
    }

    private String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    private static ProblemException bad(String message) {
        return Problem.badRequest(message).exception();
    }
}
