// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

/** The state of an object that a change is meant for. So of two administrators the second one sees the change of the first. */
public sealed interface Expected {

    /** Whatever the state is. */
    Expected ANYTHING = new Anything();

    /** There is no such object. */
    Expected NOTHING = new Nothing();

    /** There is such an object, of any version. */
    Expected SOMETHING = new Something();

    /**
     * The object has a version.
     *
     * @param version the version
     * @return the state
     */
    static Expected version(long version) {
        return new Version(version);
    }

    /** See {@link #ANYTHING}. */
    record Anything() implements Expected {}

    /** See {@link #NOTHING}. */
    record Nothing() implements Expected {}

    /** See {@link #SOMETHING}. */
    record Something() implements Expected {}

    /**
     * See {@link #version}.
     *
     * @param version the version
     */
    record Version(long version) implements Expected {}
}
