# Surveys a river's bed by the pings of a sonar, for the dredgers.
require 'json'
require 'logger'

BEAMS = @{beams}
LOG = Logger.new('@{work}/@{journal}', level: @{detail} == 1 ? Logger::DEBUG : Logger::INFO)

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Survey
  attr_reader :writing, :pings

  def initialize
    @writing = 0.0
    @pings = 0
    @dredge = 0
  end

  def echoes = Array.new(BEAMS) { |beam| @{ground} + Math.sin(beam / 7.0 + @pings / 50.0) }

  def @{fn}(depths, mean)
    start = now
    if LOG.debug?
      depths.each_with_index do |depth, beam|
        LOG.debug("ping #{@pings} beam #{beam}: angle #{beam * 120 / BEAMS - 60} depth #{depth} m, quality #{beam % 7}, gain #{40 + beam % 9} dB")
      end
    end
    LOG.info("ping #{@pings}: #{mean.round(1)} m") if (@pings % @{every}).zero?
    @writing += now - start
  end

  def ping
    depths = echoes
    mean = depths.sum / depths.size
    @dredge += depths.count { |depth| depth < mean - 0.8 }
    @{fn}(depths, mean)
    @pings += 1
  end
end

survey = Survey.new
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  survey.ping
  busy += now - start
  rest = start + 1.0 / @{per_s} - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: survey.pings, seconds: busy, culprit: survey.writing))
