# frozen_string_literal: true

require "spec_helper"
require "open3"
require "rbconfig"
require "tmpdir"

RSpec.describe AceMQ::Core::Native do
  lib = File.expand_path("../lib", __dir__)

  # What a program says that is started with another library.
  load_with = lambda do |path|
    output, = Open3.capture2e({ "ACEMQ_LIBRARY_PATH" => path }, RbConfig.ruby, "-I", lib, "-e", <<~RUBY)
      begin
        require "acemq/core"
        puts "loaded \#{AceMQ::Core.library_path}"
      rescue LoadError => e
        puts e.message
      end
    RUBY
    output
  end

  library = lambda do |folder, code|
    source = File.join(folder, "fake.c")
    path = File.join(folder, "libfake.so")
    File.write(source, code)
    system("cc", "-shared", "-fPIC", "-o", path, source, exception: true)
    path
  end

  # A gem that carries its library goes on to that one.
  carried = File.exist?(File.join(lib, "acemq/core/native", described_class::NAME))

  it "names the library of another program", unless: carried do
    Dir.mktmpdir do |folder|
      path = library.(folder, "int other(void) { return 1; }")
      expect(load_with.(path)).to include("#{path} is another library: it has no acemq_abi_version").or include("loaded")
    end
  end

  it "names the file and both versions of another ABI", unless: carried do
    Dir.mktmpdir do |folder|
      path = library.(folder, "#include <stdint.h>\nuint32_t acemq_abi_version(void) { return (9u << 16) | 7; }")
      expect(load_with.(path)).to match(/#{Regexp.escape(path)} has ABI 9\.7, and acemq-core .* needs 1\.\d+/).or include("loaded")
    end
  end

  it "lists every attempt when there is no library", unless: carried do
    expect(load_with.("/nowhere/#{described_class::NAME}"))
      .to match(%r{found no native library on .*ACEMQ_LIBRARY_PATH: /nowhere/\S+ does not exist; this gem: .*; the system: })
  end

  it "turns a panic into a StandardError with the code internal, and prints nothing" do
    output, status = Open3.capture2e(RbConfig.ruby, "-I", lib, "-e", <<~RUBY)
      require "acemq/core"
      [-> { AceMQ::Core::Native.checked(:acemq_fail_inside) }, -> { AceMQ::Core.translated { Acemq.fail_inside } }].each do |fail|
        fail.call
      rescue StandardError => e
        puts e.code
      end
    RUBY
    expect([output, status.success?]).to eq(["internal\ninternal\n", true])
  end

  it "keeps its memory through a million hot calls and a hundred thousand handles" do
    resident = -> { File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i }
    policy = AceMQ::Core::RetryPolicy.parse("exponential(6, 10s)")
    run = lambda do |calls, handles|
      calls.times { AceMQ::Core.topic_matches?("a.*.#", "a.b.c") }
      (calls / 10).times { policy.decide(attempt: 3) }
      handles.times { AceMQ::Core::TopicPattern.new("a.*").close }
      (handles / 10).times { AceMQ::Core::RetryPolicy.parse("fixed(3, 1s)") }
      (handles / 100).times { AceMQ::Core.call("name.delay", { delay_ms: 5 }) }
      GC.start
    end
    run.(100_000, 20_000)
    before = resident.call
    run.(1_000_000, 100_000)
    expect(resident.call - before).to be < 16_384
  end
end
